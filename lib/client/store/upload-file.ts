import type { Attachment } from '../../api/attachments.ts'
import { pause } from '../backoff.ts'
import type { StoreClient } from './types.ts'
import type { FileUpload } from './uploads.ts'

/** How often the state of a file is read while it is checked, and how long: a scanner has three attempts of a minute. */
const CHECK_MS = 2_000
const MAX_CHECKS = 120

interface Sending {
  onChange: (by: Partial<FileUpload>) => void
  signal: AbortSignal
}

/** Uploads a file, and waits until it is checked. It ends silently when it is broken off before. */
export async function sendFile(
  client: Pick<StoreClient, 'upload' | 'attachments'>,
  conversation_id: string,
  { file, attachment }: FileUpload,
  { onChange, signal }: Sending,
): Promise<void> {
  if (signal.aborted) return
  onChange({ status: 'uploading' })
  const uploaded = await client.upload(conversation_id, file, {
    signal,
    ...(attachment && { attachment_id: attachment.id }),
    // The name may have lost invisible characters.
    onProgress: ({ attachment, sent }) => onChange({ attachment, name: attachment.name, sent }),
  })
  onChange({
    attachment: uploaded,
    sent: file.size,
    status: uploaded.status === 'scanning' ? 'checking' : 'uploading',
  })
  const checked = await untilChecked(client, uploaded, signal)
  onChange({ attachment: checked, status: 'ready' })
}

/** @throws Error with the code `attachment_refused` or `attachment_not_ready`: the table of all errors is not loaded here */
async function untilChecked(
  { attachments }: Pick<StoreClient, 'attachments'>,
  attachment: Attachment,
  signal: AbortSignal,
): Promise<Attachment> {
  for (let checks = 0; attachment.status === 'scanning' && checks < MAX_CHECKS; checks++) {
    await pause(CHECK_MS, signal)
    attachment = (await attachments.get(attachment.id, { signal })).attachment
  }
  if (attachment.status === 'ready') return attachment
  const code = attachment.status === 'refused' ? 'attachment_refused' : 'attachment_not_ready'
  throw Object.assign(new Error(attachment.reason ?? code), { code })
}
