/**
 * The tables of the search index on SQLite, which no migration makes: one of FTS5's for each range of numbers of messages,
 * with those behind it. Without a number, that of an older version.
 */
const SEARCH_TABLE = /^search_index(?:_(?<partition>\d+))?(?<behind>_(?:config|data|docsize|idx))?$/

/** Whether a name, without the prefix, is one of them. */
export function isSearchTable(name: string): boolean {
  return SEARCH_TABLE.test(name)
}

/** The partition of a table of FTS5's; `undefined` for other tables. */
export function partitionOfTable(name: string): number | undefined {
  const { partition, behind } = SEARCH_TABLE.exec(name)?.groups ?? {}
  return partition === undefined || behind !== undefined ? undefined : Number(partition)
}
