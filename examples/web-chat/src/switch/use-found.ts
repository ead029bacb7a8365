import type { Person } from 'chat-server/client'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'

/** How long is waited for another letter before people are searched. */
const TYPING_MS = 200

/** How short the beginning of a name may be, as the service has it. */
const MIN_LETTERS = 2

const MAX_FOUND = 8

interface Found {
  people: readonly Person[]
  isLoading: boolean
  error?: unknown
}

/** The people whose username begins with what is typed. */
export function useFound(typed: string): Found {
  const { client } = useApp()
  const [found, setFound] = useState<Found>({ people: [], isLoading: false })
  const query = typed.trim()
  useEffect(() => {
    if ([...query].length < MIN_LETTERS) return setFound({ people: [], isLoading: false })
    const abort = new AbortController()
    setFound(({ people }) => ({ people: people.filter(({ username }) => begins(username, query)), isLoading: true }))
    const timer = setTimeout(() => {
      client.users.search({ query, limit: MAX_FOUND }, { signal: abort.signal }).then(
        ({ users }) => setFound({ people: users, isLoading: false }),
        (error) => abort.signal.aborted || setFound({ people: [], isLoading: false, error }),
      )
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])
  return found
}

function begins(name: string, query: string): boolean {
  return name.toLowerCase().startsWith(query.toLowerCase())
}
