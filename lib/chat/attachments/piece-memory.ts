/** The size of pieces where no more memory is left. */
const SMALL_PIECE_BYTES = 64 * 1024

/** The memory of the pieces that are being read. */
export type PieceMemory = ReturnType<typeof createPieceMemory>

/**
 * Counts the bytes that readers of files have in memory. Beyond the maximum they get small pieces.
 *
 * @param max the maximum, with what `others` take
 */
export function createPieceMemory(max: () => number, others: () => number = () => 0) {
  let used = 0
  return {
    /** The best size of the next piece: `wanted`, if there is memory for it. */
    pieceBytes: (bytes: number): number =>
      used + others() + bytes <= max() ? bytes : Math.min(bytes, SMALL_PIECE_BYTES),
    add(bytes: number): void {
      used += bytes
    },
    /** What readers have in memory. */
    bytes: () => used,
  }
}
