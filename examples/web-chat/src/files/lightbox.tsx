import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { roomTexts } from '../texts/room.ts'
import { longTime } from '../texts/time.ts'
import { authorOf } from '../threads/author.ts'
import { addressOf, type Picture } from './pictures.ts'

interface LightboxProps {
  pictures: readonly Picture[]
  /** The one that is shown first. */
  start: number
  onClose: () => void
}

/** Pictures one after another, as large as the window: arrows go on, Escape closes, a click shows every pixel. */
export function Lightbox({ pictures, start, onClose }: LightboxProps) {
  const { people, client_options } = useApp()
  const [at, setAt] = useState(start)
  const [isZoomed, setZoomed] = useState(false)
  const words = roomTexts.value.pictures
  const index = Math.min(at, pictures.length - 1)
  const { file, message } = pictures[index]!
  const address = addressOf(file, client_options.base_url)
  const go = (step: number) => {
    setAt(Math.max(0, Math.min(pictures.length - 1, index + step)))
    setZoomed(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The message below has keys of its own.
    event.stopPropagation()
    const isRtl = document.documentElement.dir === 'rtl'
    const step = { ArrowLeft: isRtl ? 1 : -1, ArrowRight: isRtl ? -1 : 1 }[event.key]
    // In a large picture, they move what is seen of it.
    if (step !== undefined && !isZoomed) go(step)
  }
  return (
    <Dialog title={file.name} kind="lightbox" onKeyDown={onKeyDown} onClose={onClose}>
      <div class="lightbox-body">
        <div class="lightbox-bar">
          <p>
            <bdi>{authorOf(message, people)}</bdi> ·{' '}
            <time datetime={message.created_at}>{longTime(message.created_at)}</time>
            {pictures.length > 1 && <span role="status"> · {words.place(index + 1, pictures.length)}</span>}
          </p>
          <button type="button" aria-pressed={isZoomed} onClick={() => setZoomed(!isZoomed)}>
            <Icon name="search" />
            {words.zoom}
          </button>
          <a class="button" href={`${address}/content`} download={file.name}>
            <Icon name="file" />
            {words.download}
          </a>
        </div>
        <div class="lightbox-picture" data-zoomed={isZoomed} tabIndex={isZoomed ? 0 : undefined}>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: The button above does it, too. */}
          <img
            key={file.id}
            src={`${address}/content?inline=true`}
            alt={file.name}
            width={file.width}
            height={file.height}
            onClick={() => setZoomed(!isZoomed)}
          />
        </div>
        {pictures.length > 1 && (
          <div class="lightbox-moves">
            <IconButton icon="back" label={words.previous} disabled={index === 0} onClick={() => go(-1)} />
            <IconButton icon="next" label={words.next} disabled={index === pictures.length - 1} onClick={() => go(1)} />
          </div>
        )}
      </div>
    </Dialog>
  )
}
