import type { Attachment } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { sizeText } from './size-text.ts'

/** A larger picture is shown when it is opened. */
const MAX_SHOWN_BYTES = 10_000_000

/** The files of a message: pictures as pictures, and files as files. */
export function MessageFiles({ files }: { files: readonly Attachment[] }) {
  return (
    <ul class="files" aria-label={texts.value.files.list}>
      {files.map((file) => (
        <li key={file.id}>{file.status === 'ready' ? <File file={file} /> : <Absent file={file} />}</li>
      ))}
    </ul>
  )
}

function File({ file }: { file: Attachment }) {
  const { client_options } = useApp()
  const { id, name, size, type, width, height, thumbnail } = file
  const address = `${client_options.base_url.replace(/\/$/, '')}/api/attachments/${id}`
  const isPicture = type.startsWith('image/') && width !== undefined && (thumbnail || size <= MAX_SHOWN_BYTES)
  if (!isPicture)
    return (
      <a class="file" href={`${address}/content`} download={name}>
        <Icon name="file" />
        <span class="file-name" dir="auto">
          {name}
        </span>
        <small>{sizeText(size)}</small>
      </a>
    )
  const source = thumbnail ? `${address}/thumbnail` : `${address}/content?inline=true`
  return (
    <a class="picture" href={`${address}/content?inline=true`} target="_blank" rel="noopener" title={name}>
      <img src={source} alt={name} width={width} height={height} loading="lazy" decoding="async" />
    </a>
  )
}

/** A file that cannot be read now, or any more. */
function Absent({ file: { name, status, reason } }: { file: Attachment }) {
  const { files } = texts.value
  const why = status === 'gone' ? files.gone : status === 'refused' ? (reason ?? files.refused) : files.checking
  return (
    <span class="file">
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <small>{why}</small>
    </span>
  )
}
