import type { Person } from '../../api/client-entities.ts'
import { partOf, type StoreBase } from './base.ts'
import type { Readable } from './cell.ts'
import type { ChatStore } from './index.ts'
import type { Loading } from './resource.ts'
import type { StoreClient } from './types.ts'

/** A user; `ready` without one for one that does not exist, or is not visible to the user of the page. */
export interface UserView extends Loading {
  user?: Person | undefined
}

/** The users who have written, or are mentioned, in what a page shows. */
export interface StorePeople {
  user(id: string): Readable<UserView>
}

/** The most users of a request. */
const MAX_IDS = 100

/** The people of a store: the same at each call. Those that are shown together are read together. */
export function peopleOf(store: ChatStore): StorePeople {
  return partOf(store, createPeople)
}

function createPeople({ client, resources }: StoreBase): StorePeople {
  const read = readTogether(client)
  const people = resources<{ user?: Person | undefined }, UserView>((id) => ({
    initial: {},
    isEphemeral: true,
    read: async () => ({ user: await read(id) }),
    fold: (data, { type, payload }) =>
      (type === 'user.updated' && payload.user.id === id) || (type === 'user.merged' && payload.from_user_id === id)
        ? { user: payload.user }
        : data,
    view: (data, loading) => ({ ...loading, ...data }),
  }))
  return { user: people.get }
}

/** Reads a user, in one request with those that are asked for in the same turn. */
function readTogether(client: StoreClient): (id: string) => Promise<Person | undefined> {
  let ids: string[] = []
  let reading: Promise<Map<string, Person>> | undefined

  async function readAll(): Promise<Map<string, Person>> {
    const asked = ids
    ids = []
    reading = undefined
    const pages = Array.from({ length: Math.ceil(asked.length / MAX_IDS) }, (_, n) =>
      client.users.search({ ids: asked.slice(n * MAX_IDS, (n + 1) * MAX_IDS).join(',') }),
    )
    return new Map((await Promise.all(pages)).flatMap(({ users }) => users.map((user) => [user.id, user])))
  }

  return async (id) => {
    ids.push(id)
    reading ??= Promise.resolve().then(readAll)
    return (await reading).get(id)
  }
}
