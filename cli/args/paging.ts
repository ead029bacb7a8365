/** The flags of every command that lists something page by page. */
export const pageArgs = {
  limit: { type: 'string', description: 'How many to show' },
  after: { type: 'string', description: 'Where the page before ended (next_after)' },
} as const

/** The page that the flags ask for, as a use-case takes it. */
export function pageOf(args: { limit?: string | undefined; after?: string | undefined }) {
  return { limit: args.limit === undefined ? undefined : Number(args.limit), after: args.after }
}

/** What follows a list that has more. */
export function moreOf(page: { next_after?: string | undefined }): string {
  return page.next_after ? `\n\nMore with --after ${page.next_after}` : ''
}
