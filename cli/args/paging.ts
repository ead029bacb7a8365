import { parseNumber } from './number.ts'

/** The flags of every command that lists items in pages. */
export const pageArgs = {
  limit: { type: 'string', description: 'Number of items to show' },
  after: { type: 'string', description: 'Continue after this cursor (next_after of the previous page)' },
} as const

/** The page that the flags request, as input of a use-case. */
export function toPageInput(args: { limit?: string | undefined; after?: string | undefined }) {
  return { limit: parseNumber('limit', args.limit), after: args.after }
}

/** The hint after a list with more pages. */
export function morePagesHint(page: { next_after?: string | undefined }): string {
  return page.next_after ? `\n\nMore with --after ${page.next_after}` : ''
}
