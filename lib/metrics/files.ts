import type { DatabaseLevels } from './database.ts'
import { createCounter, type Family, single } from './page.ts'

/** The metrics of the files of messages. */
export function createFileMetrics() {
  const refused = createCounter('chat_attachments_refused_total', 'Files that the scanner refused, or could not check')
  // Of the database, which all processes share.
  const shared = (name: string, help: string, value: number): Family => ({
    ...single('gauge', name, `${help}, counted every five minutes; 0 while files are off`, () => value),
    together: 'max',
  })
  const families = ({ database }: { database?: DatabaseLevels }): Family[] => [
    shared('chat_attachments_bytes', 'Size of all files that are not deleted', database?.files.bytes ?? 0),
    shared('chat_attachments_uploading', 'Uploads under way', database?.files.uploading ?? 0),
    refused.family,
  ]
  return { refused, families }
}
