import { expect, it } from 'vitest'
import { createRouteIndex, type Route } from '../../../lib/integrations/webhooks/route-index.ts'

const route = (id: string, types: string, changes: Partial<Route> = {}): Route => ({
  ...{ id, user_id: 'ada', types: new Set(types.split(' ')), conversation_id: null },
  ...changes,
})

it('finds routes by the types and conversations of rows, and forgets those that were removed', () => {
  const index = createRouteIndex()
  const routes = [
    route('all', 'a b', { user_id: null }),
    route('ada', 'a'),
    route('ada too', 'a', { conversation_id: 'one' }),
    route('grace', 'b', { user_id: 'grace', conversation_id: 'two' }),
  ]
  for (const each of routes) index.add(each)
  const found = (...rows: [type: string, conversation_id: string][]) => {
    const groups = index.groupsFor(rows.map(([type, conversation_id]) => ({ type, conversation_id })) as never)
    const ids = groups.flatMap((group) =>
      [...group].flatMap(([user, own]) => [...own.keys()].map((id) => `${user}:${id}`)),
    )
    return ids.toSorted()
  }
  expect(found(['a', 'one'])).toEqual([':all', 'ada:ada', 'ada:ada too'])
  expect(found(['a', 'two'])).toEqual([':all', 'ada:ada'])
  expect(found(['b', 'two'])).toEqual([':all', 'grace:grace'])
  expect(found(['b', 'one'], ['b', 'two'])).toEqual([':all', 'grace:grace'])
  expect(found(['c', 'one'])).toEqual([])
  expect(['a', 'b', 'c'].map(index.hasType)).toEqual([true, true, false])
  for (const each of routes.slice(1, 3)) index.remove(each)
  expect(found(['a', 'one'])).toEqual([':all'])
  index.remove(routes[0]!)
  // What was never added, or is removed already, changes nothing.
  index.remove(routes[0]!)
  expect(['a', 'b'].map(index.hasType)).toEqual([false, true])
  index.remove(routes[3]!)
  expect(['a', 'b'].map(index.hasType)).toEqual([false, false])
  expect(found(['a', 'one'], ['b', 'two'])).toEqual([])
})
