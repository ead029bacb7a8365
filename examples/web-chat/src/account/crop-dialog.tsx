import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { photoTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { cropBy, MAX_ZOOM, squareOf, WHOLE } from './crop.ts'

/** Of a photo, in pixels: enough for the largest place that shows it, on a screen of two pixels to one. */
const SIDE = 512

/** How well a JPEG is: the next one, while it has too many bytes. */
const QUALITIES = [0.9, 0.7, 0.5]

/** By how much of the square an arrow key moves it, and by how much a key, or the wheel, changes its size. */
const STEP = 0.05
const ZOOM_STEP = 0.1

const ARROWS: Record<string, { right: number; down: number }> = {
  ArrowLeft: { right: -STEP, down: 0 },
  ArrowRight: { right: STEP, down: 0 },
  ArrowUp: { right: 0, down: -STEP },
  ArrowDown: { right: 0, down: STEP },
}

interface CropProps {
  picture: HTMLImageElement
  max_bytes: number
  onPhoto: (photo: Blob) => Promise<void>
  onClose: () => void
}

/** Chooses the square of a picture that becomes the photo: the pointer drags the picture, keys move the square. */
export function CropDialog({ picture, max_bytes, onPhoto, onClose }: CropProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [crop, setCrop] = useState(WHOLE)
  const size = { width: picture.naturalWidth, height: picture.naturalHeight }
  const words = photoTexts.value
  const change = (by: { right?: number; down?: number; zoom?: number }) => setCrop((last) => cropBy(size, last, by))
  const save = useAction(async () => {
    await onPhoto(await encode(canvas.current!, max_bytes))
    onClose()
  })
  useLayoutEffect(() => {
    const context = canvas.current!.getContext('2d')!
    const { left, top, side } = squareOf(size, crop)
    // A JPEG has no transparency.
    context.fillStyle = 'white'
    context.fillRect(0, 0, SIDE, SIDE)
    context.imageSmoothingQuality = 'high'
    context.drawImage(picture, left, top, side, side, 0, 0, SIDE, SIDE)
  }, [crop])
  return (
    <Dialog title={words.crop} onClose={onClose}>
      <div class="crop">
        {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: What it shows is chosen by keys. */}
        <canvas
          ref={canvas}
          width={SIDE}
          height={SIDE}
          role="application"
          tabIndex={0}
          aria-label={words.area}
          onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
          onPointerMove={({ currentTarget, pointerId, movementX, movementY }) => {
            if (!currentTarget.hasPointerCapture(pointerId)) return
            const { clientWidth } = currentTarget
            change({ right: -movementX / clientWidth, down: -movementY / clientWidth })
          }}
          onWheel={(event) => {
            event.preventDefault()
            change({ zoom: crop.zoom - Math.sign(event.deltaY) * ZOOM_STEP })
          }}
          onKeyDown={(event) => {
            const sign = { '+': 1, '-': -1 }[event.key]
            const by = sign ? { zoom: crop.zoom + sign * ZOOM_STEP } : ARROWS[event.key]
            if (!by) return
            event.preventDefault()
            change(by)
          }}
        />
        <label>
          {words.zoom}
          <input
            type="range"
            min={1}
            max={MAX_ZOOM}
            step={ZOOM_STEP}
            value={crop.zoom}
            onInput={(event) => change({ zoom: event.currentTarget.valueAsNumber })}
          />
        </label>
      </div>
      {save.isRunning && <progress aria-label={words.saving} />}
      <ErrorNote error={save.error} />
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="primary" disabled={save.isRunning} onClick={() => void save.run()}>
          {texts.value.save}
        </button>
      </p>
    </Dialog>
  )
}

/** The square as a JPEG that the service takes, if there is one. */
async function encode(canvas: HTMLCanvasElement, max_bytes: number): Promise<Blob> {
  let photo: Blob | null = null
  for (const quality of QUALITIES) {
    photo = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality))
    if (photo && photo.size <= max_bytes) break
  }
  return photo!
}
