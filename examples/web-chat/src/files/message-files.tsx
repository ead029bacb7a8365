import type { Attachment } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { FileName } from './file-name.tsx'
import { sizeText } from './size-text.ts'

/** A larger picture is shown when it is opened. */
const MAX_SHOWN_BYTES = 10_000_000

/** The files of a message: pictures are shown, audio and video can be played, and all others are links. */
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
  const [isBroken, setBroken] = useState(false)
  const { id, name, size, type, width, height, thumbnail } = file
  const address = `${client_options.base_url.replace(/\/$/, '')}/api/attachments/${id}`
  // What another origin serves is never a part of this page.
  const kind = address.startsWith(`${location.origin}/`) ? type.split('/', 1)[0] : undefined
  const inline = `${address}/content?inline=true`
  if (kind === 'audio' || kind === 'video')
    return (
      <div class="media">
        <Player kind={kind} source={inline} name={name} />
        <FileLink file={file} address={address} />
      </div>
    )
  const isPicture = !isBroken && kind === 'image' && width !== undefined && (thumbnail || size <= MAX_SHOWN_BYTES)
  if (!isPicture) return <FileLink file={file} address={address} />
  return (
    <a class="picture" href={inline} target="_blank" rel="noopener" title={name}>
      <img
        src={thumbnail ? `${address}/thumbnail` : inline}
        alt={name}
        width={width}
        height={height}
        loading="lazy"
        decoding="async"
        // It is broken, of a kind that the browser lacks, or not to be had: it can still be saved.
        onError={() => setBroken(true)}
      />
    </a>
  )
}

function FileLink({ file: { name, size }, address }: { file: Attachment; address: string }) {
  return (
    <a class="file" href={`${address}/content`} download={name}>
      <Icon name="file" />
      <FileName name={name} />
      <small>{sizeText(size)}</small>
    </a>
  )
}

/** Plays a file by parts of it. Of audio, nothing is loaded before it is played; of video, as much as shows its first picture. */
function Player({ kind, source, name }: { kind: 'audio' | 'video'; source: string; name: string }) {
  // biome-ignore lint/a11y/useMediaCaption: users who attach a file have no captions.
  if (kind === 'audio') return <audio controls preload="none" src={source} aria-label={name} />
  // biome-ignore lint/a11y/useMediaCaption: as above.
  return <video controls playsInline preload="metadata" src={source} aria-label={name} />
}

/** A file that cannot be read now, or any more. */
function Absent({ file: { name, status, reason } }: { file: Attachment }) {
  const { files } = texts.value
  const why = status === 'gone' ? files.gone : status === 'refused' ? (reason ?? files.refused) : files.checking
  return (
    <span class="file">
      <Icon name="file" />
      <FileName name={name} />
      <small>{why}</small>
    </span>
  )
}
