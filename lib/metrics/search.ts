import { createCounter, type Family, sharedGauge } from './page.ts'

/** The metrics of the search index. */
export function createSearchMetrics() {
  const refused = createCounter(
    'chat_search_refused_total',
    'Messages that the database refused to take into the search index',
  )
  const families = ({ search_waiting }: { search_waiting?: number | undefined }): Family[] => [
    sharedGauge(
      'chat_search_waiting',
      'Changes of messages that the search index does not have yet; counted up to 10,000',
      search_waiting,
    ),
    refused.family,
  ]
  return { refused, families }
}
