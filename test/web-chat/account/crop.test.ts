import { describe, expect, it } from 'vitest'
import { cropBy, MAX_ZOOM, squareOf, WHOLE } from '../../../examples/web-chat/src/account/crop.ts'

const WIDE = { width: 600, height: 400 }

describe('the square of a picture', () => {
  it('is the largest one in its middle at first', () => {
    expect(squareOf(WIDE, WHOLE)).toEqual({ left: 100, top: 0, side: 400 })
  })

  it('moves as far as the picture goes, and back from there at once', () => {
    const right = cropBy(WIDE, WHOLE, { right: 10, down: 10 })
    expect(squareOf(WIDE, right)).toEqual({ left: 200, top: 0, side: 400 })
    expect(squareOf(WIDE, cropBy(WIDE, right, { right: -0.25 }))).toEqual({ left: 100, top: 0, side: 400 })
  })

  it('becomes smaller around its center, within limits, and never reaches beyond the picture', () => {
    const small = cropBy(WIDE, WHOLE, { zoom: 2 })
    expect(squareOf(WIDE, small)).toEqual({ left: 200, top: 100, side: 200 })
    const corner = cropBy(WIDE, small, { right: -10, down: -10 })
    expect(squareOf(WIDE, corner)).toEqual({ left: 0, top: 0, side: 200 })
    expect(squareOf(WIDE, cropBy(WIDE, corner, { zoom: 0 }))).toEqual({ left: 0, top: 0, side: 400 })
    expect(cropBy(WIDE, WHOLE, { zoom: 99 }).zoom).toBe(MAX_ZOOM)
  })
})
