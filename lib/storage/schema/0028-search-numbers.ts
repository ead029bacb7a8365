import type { Migration } from './migrations.ts'

/**
 * On PostgreSQL the index of the search has a number for each word, which takes half of the space of the words. The words
 * themselves are stored once, to find those that begin as a query says. The index is filled again.
 */
export const searchNumbers: Migration = {
  name: '0028-search-numbers',
  statements: ({ key }, dialect) =>
    dialect === 'sqlite'
      ? []
      : [
          'DROP TABLE search_docs',
          'CREATE TABLE search_docs (doc BIGINT PRIMARY KEY, words INTEGER[] NOT NULL)',
          'CREATE INDEX search_by_word ON search_docs USING gin (words) WITH (fastupdate = off)',
          `CREATE TABLE search_words (word ${key} PRIMARY KEY, number INTEGER NOT NULL)`,
          'CREATE INDEX search_words_by_number ON search_words (number)',
          // The numbers that were taken from messages: no message may have their words any more.
          'CREATE TABLE search_gone (number INTEGER PRIMARY KEY)',
        ],
}
