/** Why a picture is refused. */
export type PictureProblem = 'unsupported' | 'broken' | 'animated' | 'large'

export class PictureError extends Error {
  override readonly name = 'PictureError'
  readonly problem: PictureProblem
  constructor(problem: PictureProblem) {
    super(`The picture is ${problem}`)
    this.problem = problem
  }
}

/** The maximum width and height of a picture, in pixels: a decoder of 64 bits a pixel needs 128 MiB. */
export const MAX_SIDE = 4096

/**
 * The maximum number of parts that are read of a picture, in one step of the event loop: each takes a few microseconds.
 * Programs write parts of 8 KiB and more.
 */
export const MAX_PARTS = 2_000

/** @throws PictureError `broken` for a side of no pixel; `large` */
export function assertSides(...sides: number[]): void {
  if (sides.some((side) => side < 1)) throw new PictureError('broken')
  if (sides.some((side) => side > MAX_SIDE)) throw new PictureError('large')
}

/** @throws PictureError `broken` unless the condition holds */
export function assertWhole(condition: boolean): asserts condition {
  if (!condition) throw new PictureError('broken')
}
