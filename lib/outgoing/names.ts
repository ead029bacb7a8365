import { lookup, Resolver } from 'node:dns/promises'
import { setTimeout } from 'node:timers/promises'
import { createSlots } from '../core/scheduling/slots.ts'
import { OutgoingFailure, toFailure } from './failure.ts'

/** How long a DNS server may take, twice. */
const TIMEOUT_MS = 2_000

/** How long the addresses of one family wait for those of the other. */
const SECOND_FAMILY_MS = 200

/** What is asked of the system at a time: each question takes a thread that files need, too. */
const SYSTEM_CONCURRENCY = 2
const MAX_WAITING = 100

/** The answers after which the system is asked: no such name, no address of that kind, and no DNS server. */
const NONE = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

/** The addresses of a name. @throws OutgoingFailure `dns` */
export type Resolve = (name: string) => Promise<string[]>

/** Where names are looked up, if not as this machine does it. */
export interface NameSources {
  servers?: readonly string[]
  system?: (name: string) => Promise<string[]>
}

/**
 * Asks the DNS servers of this machine for both families. For names that they have no address of, it asks the system, which
 * reads the file of hosts and knows the domains to search. Calls that wait for one name share the answer.
 */
export function createResolve({ servers, system = askSystem }: NameSources = {}): Resolve {
  const waiting = new Map<string, Promise<string[]>>()
  const slots = createSlots({
    ...{ max: SYSTEM_CONCURRENCY, perKey: 1, maxWaiting: MAX_WAITING },
    refuse: { all: () => new OutgoingFailure('dns') },
  })

  async function ask(name: string): Promise<string[]> {
    const { addresses, errors } = await askServers(name, servers)
    if (addresses.length > 0) return addresses
    if (!errors.every((code) => NONE.includes(code))) throw new OutgoingFailure('dns')
    try {
      return await slots.run(name, () => system(name))
    } catch (error) {
      throw toFailure('dns', error)
    }
  }

  return (name) => {
    const answer = waiting.get(name) ?? ask(name).finally(() => waiting.delete(name))
    waiting.set(name, answer)
    return answer
  }
}

/** The addresses of a name as `fetch` would find them. */
export async function askSystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** The addresses of both families, alternately; and why there is none. */
async function askServers(name: string, servers?: readonly string[]) {
  // For each question: it reads which servers the machine has now.
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  const errors: string[] = []
  const families: string[][] = [[], []]
  const questions = [resolver.resolve4(name), resolver.resolve6(name)].map((question, family) =>
    question.then(
      (addresses) => void families.splice(family, 1, addresses),
      (error: { code?: unknown }) => void errors.push(String(error.code)),
    ),
  )
  await Promise.race(questions)
  // A server that answers for one family only must not hold up that one (RFC 8305, section 3).
  const isEnough = families.some((addresses) => addresses.length > 0)
  await Promise.race([Promise.all(questions), ...(isEnough ? [setTimeout(SECOND_FAMILY_MS)] : [])])
  resolver.cancel()
  const [v4 = [], v6 = []] = families
  const longest = Math.max(v4.length, v6.length)
  const addresses = Array.from({ length: longest }, (_, n) => [v4[n], v6[n]]).flat()
  return { addresses: addresses.filter((address) => address !== undefined), errors }
}
