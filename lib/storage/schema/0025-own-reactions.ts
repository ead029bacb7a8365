import type { Migration } from './migrations.ts'

/**
 * The own reactions to a page of messages are read from one index. PostgreSQL, once it had statistics, looked at those of
 * all users instead, as only the primary key contained all columns. `reactions_of_user` stays: earlier programs check
 * that it exists.
 */
export const ownReactions: Migration = {
  name: '0025-own-reactions',
  statements: () => ['CREATE INDEX own_reactions ON reactions (user_id, message_id, emoji_key)'],
}
