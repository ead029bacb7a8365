/**
 * Calls `work` for each item in their order, for at most `concurrency` of them at the same time. One that fails does not hold
 * up the others.
 *
 * @throws the first failure, when all have ended
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const failures: unknown[] = []
  async function workOn(): Promise<void> {
    for (const item of waiting) await work(item).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, workOn))
  if (failures.length > 0) throw failures[0]
}
