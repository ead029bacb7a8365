/** The width and the height of a picture, in pixels. */
export interface Size {
  width: number
  height: number
}

/** Which square of a picture is taken: its center, in parts of the width and the height, and how much smaller than the largest it is. */
export interface Crop {
  x: number
  y: number
  zoom: number
}

export const WHOLE: Crop = { x: 0.5, y: 0.5, zoom: 1 }

export const MAX_ZOOM = 4

/** The square in pixels. It never reaches beyond the picture. */
export function squareOf({ width, height }: Size, { x, y, zoom }: Crop): { left: number; top: number; side: number } {
  const side = Math.min(width, height) / zoom
  return { left: within(x * width - side / 2, width - side), top: within(y * height - side / 2, height - side), side }
}

/** Moves the square by parts of its side, or changes its size, as far as the picture has room. */
export function cropBy(size: Size, crop: Crop, { right = 0, down = 0, zoom = crop.zoom }): Crop {
  const next = { ...crop, zoom: Math.max(1, Math.min(MAX_ZOOM, zoom)) }
  const { side } = squareOf(size, next)
  const square = squareOf(size, {
    ...next,
    x: crop.x + (right * side) / size.width,
    y: crop.y + (down * side) / size.height,
  })
  return { ...next, x: (square.left + side / 2) / size.width, y: (square.top + side / 2) / size.height }
}

function within(value: number, max: number): number {
  return Math.max(0, Math.min(max, value))
}
