import { ChatError } from 'chat-server/client'
import type { FileUpload } from 'chat-server/client/parts'
import { useLayoutEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { detailOf } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { composeTexts } from '../texts/compose.ts'
import { texts } from '../texts/texts.ts'
import { FileName } from './file-name.tsx'
import { sizeText } from './size-text.ts'
import type { DraftFiles } from './use-files.ts'

/** Larger pictures are not shown: the browser would hold all of their pixels for a small sign. */
const MAX_SHOWN_BYTES = 20_000_000

interface DraftListProps extends DraftFiles {
  /** Whether they are not sent with what is written: a call has no files. */
  isKept: boolean
  /** Whether the message is sent once they are uploaded. */
  isWaiting: boolean
  onCancel: () => void
}

/** The files of a message that is being written, and how far they are. */
export function DraftList({ uploads, refusal, retry, remove, isKept, isWaiting, onCancel }: DraftListProps) {
  const { draft_files } = composeTexts.value
  return (
    <>
      {refusal && (
        <p class="error" role="alert">
          {refusal}
        </p>
      )}
      {isKept && uploads.length > 0 && (
        <p class="quiet" role="status">
          {draft_files.not_called}
        </p>
      )}
      {isWaiting && (
        <p class="quiet" role="status">
          {draft_files.waits}{' '}
          <button type="button" class="link" onClick={onCancel}>
            {texts.value.cancel}
          </button>
        </p>
      )}
      <ul class="draft-files" aria-label={texts.value.files.list}>
        {uploads.map((upload) => (
          <li key={upload.key} data-status={upload.status}>
            <Thumbnail {...upload} />
            <FileName name={upload.name} />
            <State {...upload} />
            {upload.status === 'failed' && (
              <IconButton icon="again" label={draft_files.retry(upload.name)} onClick={() => retry(upload.key)} />
            )}
            <IconButton icon="close" label={draft_files.remove(upload.name)} onClick={() => remove(upload.key)} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** A picture as it is on this device, or as the service has it from an earlier page; of another file, a sign. */
function Thumbnail({ file, attachment }: FileUpload) {
  const { base_url } = useApp().client_options
  const [local, setLocal] = useState<string>()
  const [isBroken, setBroken] = useState(false)
  useLayoutEffect(() => {
    if (!file.type.startsWith('image/') || file.size > MAX_SHOWN_BYTES) return
    const address = URL.createObjectURL(file)
    setLocal(address)
    return () => URL.revokeObjectURL(address)
  }, [file])
  const address = attachment?.thumbnail && `${base_url.replace(/\/$/, '')}/api/attachments/${attachment.id}/thumbnail`
  // What another origin serves is never a part of this page.
  const kept = address?.startsWith(`${location.origin}/`) ? address : undefined
  const source = local ?? kept
  if (isBroken || source === undefined) return <Icon name="file" />
  // The name is beside it.
  return <img class="thumbnail" src={source} alt="" decoding="async" onError={() => setBroken(true)} />
}

function State({ name, status, sent, size, error }: FileUpload) {
  const { draft_files } = composeTexts.value
  if (status === 'failed')
    return (
      <span class="error" role="alert">
        {/* Beside it, the name is seen; an alert is read out alone. */}
        <span class="hidden">{name}: </span>
        {error instanceof ChatError ? detailOf(error) : draft_files.failed}
      </span>
    )
  return (
    <>
      <small>{status === 'checking' ? texts.value.files.checking : sizeText(size)}</small>
      {(status === 'waiting' || status === 'uploading') && (
        <progress max={size} value={sent} aria-label={draft_files.uploading(name)} />
      )}
    </>
  )
}
