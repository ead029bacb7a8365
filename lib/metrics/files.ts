import type { DatabaseLevels } from './database.ts'
import { createCounter, type Family, sharedGauge } from './page.ts'

/** The values of files that are read for the page. */
interface FileLevels {
  database?: DatabaseLevels
  files_missing?: boolean
  backups?: { is_missing?: boolean } | undefined
}

/** The metrics of the files of messages. */
export function createFileMetrics() {
  const refused = createCounter('chat_attachments_refused_total', 'Files that the scanner refused, or could not check')
  const gauge = (name: string, help: string, value: number | undefined): Family =>
    sharedGauge(name, `${help}, counted every five minutes; 0 while files are off`, value)
  const families = ({ database, files_missing = false, backups }: FileLevels): Family[] => [
    {
      name: 'chat_storage_missing',
      help: 'Whether a place of bytes is not the one that the database has them in',
      type: 'gauge',
      together: 'max',
      read: () => [
        { labels: { of: 'files' }, value: Number(files_missing) },
        { labels: { of: 'backups' }, value: Number(backups?.is_missing ?? false) },
      ],
    },
    gauge('chat_attachments_bytes', 'Size of all files that are not deleted', database?.files?.bytes),
    gauge('chat_attachments_uploading', 'Uploads under way', database?.files?.uploading),
    refused.family,
  ]
  return { refused, families }
}
