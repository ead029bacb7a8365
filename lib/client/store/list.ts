import type { ConversationStreamEvent } from '../types.ts'
import type { Loading, Plan } from './resource.ts'

/** How many items are read at once, and shown at first. */
const PAGE = 50

/** A list with the cursor of what was not read. */
export interface ListData<Item> {
  items: readonly Item[]
  next_after?: string | undefined
}

/** Which page of a list is read. */
export interface PageQuery {
  limit: number
  after?: string
}

/** A page as the API returns it: its items, by the name of the list. */
export type Page<Name extends string, Item> = Record<Name, Item[]> & { next_after?: string }

/** What differs between lists. */
interface ListOptions<Name extends string, Item, More>
  extends Pick<Plan<ListData<Item>, never>, 'fold' | 'isUnsure' | 'isEphemeral' | 'isOwn' | 'visits'> {
  /** What the API calls the items, and so do the views. */
  name: Name
  keyOf(item: Item): string
  /** The key of the item that an event is about, if it is about one. */
  subjectOf?(event: ConversationStreamEvent): string | undefined
  read(query: PageQuery): Promise<Page<Name, Item>>
  /** What the view has besides the items, or in their place. */
  more?(items: readonly Item[]): More
}

/** The list with an item changed; the same list without it. */
export function changed<Item, Data extends ListData<Item>>(
  data: Data,
  item: Item | undefined,
  by: Partial<Item>,
): Data {
  return item ? { ...data, items: data.items.map((each) => (each === item ? { ...each, ...by } : each)) } : data
}

/** The plan of a list that is read in pages. */
export function listPlan<Name extends string, Item, More = unknown>({
  name,
  keyOf,
  subjectOf,
  read,
  more,
  ...plan
}: ListOptions<Name, Item, More>): Plan<
  ListData<Item>,
  Loading & Record<Name, readonly Item[]> & { has_more: boolean } & More
> {
  return {
    ...plan,
    initial: { items: [] },
    read: (current, isMore, from, causes) =>
      readList(current, isMore, from, { keyOf, read, name }, isMore || !subjectOf ? [] : causes?.map(subjectOf)),
    view: ({ items, next_after }, loading) =>
      ({ ...loading, [name]: items, has_more: next_after !== undefined, ...more?.(items) }) as never,
  }
}

/**
 * As many items as before, or more; if only some have changed, what comes after the last of them is not read again. One that moved to the front meanwhile is in two pages, and the first is newer.
 *
 * @param from what is not read again
 * @param changed the keys of those that have changed; without any, and with an unknown one, all may have
 */
export async function readList<Name extends string, Item>(
  current: ListData<Item>,
  isMore: boolean,
  from: ListData<Item>,
  { keyOf, read, name }: Pick<ListOptions<Name, Item, unknown>, 'keyOf' | 'read' | 'name'>,
  changed: readonly (string | undefined)[] = [],
): Promise<ListData<Item>> {
  const count = current.items.length + (isMore ? 1 : 0)
  let { next_after } = from
  const items = new Map(from.items.map((item) => [keyOf(item), item]))
  do {
    const page: Page<Name, Item> = await read({ limit: PAGE, after: next_after })
    for (const item of page[name]) if (!items.has(keyOf(item))) items.set(keyOf(item), item)
    next_after = page.next_after
    const rest = current.items.filter((item) => !items.has(keyOf(item)))
    if (changed.length > 0 && rest.length > 0 && changed.every((key) => key !== undefined && items.has(key)))
      return { items: [...items.values(), ...rest], next_after: current.next_after }
  } while (next_after !== undefined && items.size < count)
  return { items: [...items.values()], next_after }
}
