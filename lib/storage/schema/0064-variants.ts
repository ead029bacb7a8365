import type { Migration } from './migrations.ts'

/**
 * The first answer of the set of which an answer is a variant, and why an answer failed. Without a reference: the removal
 * of a conversation would look for variants of each of its messages.
 */
export const variants: Migration = {
  name: '0064-variants',
  statements: ({ key }) => [
    `ALTER TABLE messages ADD COLUMN variant_of ${key}`,
    'ALTER TABLE messages ADD COLUMN failure TEXT',
  ],
}
