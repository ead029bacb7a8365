import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { createBatches } from '../../core/scheduling/batches.ts'
import type { TransactionOptions } from '../../storage/database.ts'
import type { Tx } from './transaction.ts'

/** Stores items; items that wait at the same time share a transaction. */
export interface WriteQueue<Item, Result> {
  /** @throws ChatError as its `store` returns them */
  add(item: Item): Promise<Result>
}

/** The result of each item in their order; `undefined` if its conversation is locked. */
type Results<Result> = (Result | ChatError | undefined)[]

interface WriteQueueOptions<Item, Result> {
  /**
   * Stores any number of items with the same number of statements. A refused item changes nothing.
   *
   * @param options.unlessLocked skips conversations that other transactions have locked, on PostgreSQL; then it may return a
   *   function, which returns the results after the commit
   */
  store: (
    tx: Tx,
    items: readonly Item[],
    options: { unlessLocked?: boolean },
  ) => Promise<Results<Result> | (() => Promise<Results<Result>>)>
  /** What an item locks: items with the same target wait for it together. */
  targetOf: (item: Item) => string
  /** The length of an item's text. */
  lengthOf?: (item: Item) => number
  /** The options of its transactions. */
  writing?: TransactionOptions
}

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Creates a queue of one process. */
export function createWriteQueue<Item, Result extends object>(
  { db, write }: Pick<Context, 'db' | 'write'>,
  { store, targetOf, lengthOf = () => 0, writing }: WriteQueueOptions<Item, Result>,
): WriteQueue<Item, Result> {
  type Each = Waiting<Item, Result>
  const batches = createBatches<Each>(commit, {
    lengthOf: ({ item }) => lengthOf(item),
    ...(db.dialect === 'sqlite'
      ? // The writers of SQLite wait for the other requests of this turn anyway.
        { defer: (run) => run() }
      : // A batch costs PostgreSQL as much as five of its items. Items arrive in two groups, one while the other is stored: few
        // are stored together. Of many one group is enough, and is read and answered while the server stores the other one.
        { gathering: { batches: 2, ms: 3, most: 16 } }),
  })

  /** Skips conversations that another process has locked, so that the items for other conversations do not wait. */
  async function commit(take: () => Each[]): Promise<void> {
    let batch: Each[] | undefined
    try {
      const stored = await write((tx) => {
        batch ??= take()
        return store(tx, itemsOf(batch), { unlessLocked: true })
      }, writing)
      const results = await resultsOf(stored)
      const locked = batch!.filter((waiting, index) => !settle(waiting, results[index]))
      for (const group of groupBy(locked, ({ item }) => targetOf(item))) void commitAlone(group)
    } catch (error) {
      fail(batch ?? take(), error)
    }
  }

  /** Stores items with the same target, and waits for the lock of its conversation. */
  async function commitAlone(group: Each[]): Promise<void> {
    try {
      const results = await resultsOf(await write((tx) => store(tx, itemsOf(group), {}), writing))
      for (const [index, waiting] of group.entries()) settle(waiting, results[index])
    } catch (error) {
      fail(group, error)
    }
  }

  /** After a failure that may be due to one item, stores each item in a transaction of its own. */
  function fail(batch: Each[], error: unknown): void {
    if (batch.length === 1 || error instanceof ChatError) for (const waiting of batch) waiting.reject(error)
    else for (const waiting of batch) void commitAlone([waiting])
  }

  return {
    add: (item) => new Promise((resolve, reject) => batches.add({ item, resolve, reject })),
  }
}

const resultsOf = <Result>(stored: Results<Result> | (() => Promise<Results<Result>>)) =>
  typeof stored === 'function' ? stored() : stored

/** @returns false if the item has no result */
function settle<Result>(
  { resolve, reject }: Waiting<unknown, Result>,
  result: Result | ChatError | undefined,
): boolean {
  if (result instanceof ChatError) reject(result)
  else if (result) resolve(result)
  return result !== undefined
}

const itemsOf = <Item>(batch: readonly { item: Item }[]) => batch.map(({ item }) => item)

function groupBy<Each>(all: Each[], keyOf: (key: Each) => string): Iterable<Each[]> {
  const groups = new Map<string, Each[]>()
  for (const item of all) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups.values()
}
