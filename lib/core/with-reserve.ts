import type { Context } from '../context.ts'

/** The context with writes that may use this part of what is kept for a full disk. */
export function withReserve(ctx: Context, part: 'half' | 'whole'): Context {
  const write: Context['write'] = (work, options) => ctx.write(work, { full_disk: part, ...options })
  return Object.create(ctx, { write: { value: write } })
}
