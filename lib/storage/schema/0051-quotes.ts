import type { Migration } from './migrations.ts'

/**
 * The message that a message quotes. Without a reference: the removal of a conversation would look for quotes of each of
 * its messages. Readers get no quote of a message that does not exist in the conversation.
 */
export const quotes: Migration = {
  name: '0051-quotes',
  statements: ({ key }) => [`ALTER TABLE messages ADD COLUMN quote_id ${key}`],
}
