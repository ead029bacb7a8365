import type { Attachment } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { FileName } from './file-name.tsx'
import { addressOf, isPicture, kindOf, type Picture, previewOf, shownWidth } from './pictures.ts'
import { sizeText } from './size-text.ts'

const Lightbox = lazy(() => import('./lightbox.tsx').then(({ Lightbox }) => Lightbox))

/** How many pictures of a message are shown; the others are counted on the last of them. */
const MAX_SHOWN = 4

export interface FilesProps {
  files: readonly Attachment[]
  message: Picture['message']
}

/** The files of a message: pictures are shown, audio and video can be played, and all others are links. */
export function MessageFiles({ files, message }: FilesProps) {
  const { base_url } = useApp().client_options
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<number>()
  const isShown = (file: Attachment) => !broken.has(file.id) && isPicture(file, base_url)
  const pictures = files.filter(isShown)
  const shown = pictures.slice(0, MAX_SHOWN)
  const more = pictures.length - shown.length
  return (
    <>
      <ul class="files" aria-label={texts.value.files.list}>
        {shown.map((file, index) => (
          <li key={file.id}>
            <PictureLink
              file={file}
              width={shownWidth(file, pictures.length)}
              more={index === MAX_SHOWN - 1 ? more : 0}
              onOpen={() => setOpened(index)}
              // It is broken, of a kind that the browser lacks, or not to be had: it can still be saved.
              onBroken={() => setBroken((before) => new Set(before).add(file.id))}
            />
          </li>
        ))}
        {files
          .filter((file) => !isShown(file))
          .map((file) => (
            <li key={file.id}>{file.status === 'ready' ? <File file={file} /> : <Absent file={file} />}</li>
          ))}
      </ul>
      {opened !== undefined && (
        <Lightbox
          pictures={pictures.map((file) => ({ file, message }))}
          start={opened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

interface PictureProps {
  file: Attachment
  width: number
  /** How many further pictures there are. */
  more: number
  onOpen: () => void
  onBroken: () => void
}

/** A picture, which is opened in the page; in a tab of its own as any link. */
function PictureLink({ file, width, more, onOpen, onBroken }: PictureProps) {
  const { base_url } = useApp().client_options
  return (
    <a
      class="picture"
      href={`${addressOf(file, base_url)}/content?inline=true`}
      target="_blank"
      rel="noopener"
      title={file.name}
      aria-haspopup="dialog"
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        onOpen()
      }}
    >
      <img
        src={previewOf(file, base_url)}
        alt={file.name}
        width={file.width}
        height={file.height}
        style={{ width: `${width}px` }}
        loading="lazy"
        decoding="async"
        onError={onBroken}
      />
      {more > 0 && (
        <span class="more-pictures">
          <span aria-hidden="true">+{more}</span>
          <span class="hidden">{roomTexts.value.pictures.more(more)}</span>
        </span>
      )}
    </a>
  )
}

function File({ file }: { file: Attachment }) {
  const address = addressOf(file, useApp().client_options.base_url)
  const kind = kindOf(file, address)
  if (kind !== 'audio' && kind !== 'video') return <FileLink file={file} address={address} />
  return (
    <div class="media">
      <Player kind={kind} source={`${address}/content?inline=true`} name={file.name} />
      <FileLink file={file} address={address} />
    </div>
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
