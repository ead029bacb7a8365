import { ChatError } from 'chat-server/client'
import type { FileUpload } from 'chat-server/client/parts'
import { detailOf } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import { FileName } from './file-name.tsx'
import { sizeText } from './size-text.ts'
import type { DraftFiles } from './use-files.ts'

/**
 * The files of a message that is being written, and how far they are.
 *
 * @param isAsking whether what is written is a question to the assistant, which has no files
 */
export function DraftList({ uploads, refusal, retry, remove, isAsking }: DraftFiles & { isAsking: boolean }) {
  return (
    <>
      {refusal && (
        <p class="error" role="alert">
          {refusal}
        </p>
      )}
      {isAsking && uploads.length > 0 && (
        <p class="quiet" role="status">
          {texts.value.files.not_asked}
        </p>
      )}
      <ul class="draft-files" aria-label={texts.value.files.list}>
        {uploads.map((upload) => (
          <li key={upload.key} data-status={upload.status}>
            <FileName name={upload.name} />
            <State {...upload} />
            {upload.status === 'failed' && (
              <IconButton icon="again" label={texts.value.files.retry(upload.name)} onClick={() => retry(upload.key)} />
            )}
            <IconButton icon="close" label={texts.value.files.remove(upload.name)} onClick={() => remove(upload.key)} />
          </li>
        ))}
      </ul>
    </>
  )
}

function State({ name, status, sent, size, error }: FileUpload) {
  const { files } = texts.value
  if (status === 'failed')
    return (
      <span class="error" role="alert">
        {/* Beside it, the name is seen; an alert is read out alone. */}
        <span class="hidden">{name}: </span>
        {error instanceof ChatError ? detailOf(error) : files.failed}
      </span>
    )
  if (status === 'checking') return <small>{files.checking}</small>
  if (status === 'ready') return <small>{sizeText(size)}</small>
  return <progress max={size} value={sent} aria-label={files.uploading(name)} />
}
