import { setTimeout as sleep } from 'node:timers/promises'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { AGENT, type Answered, addClient, allow, EXCHANGE, OAUTH } from '../support/grants.ts'
import { settle } from './people.ts'
import { type ServerProcess, startProcess } from './process.ts'

/** Two nodes that are killed while applications get tokens. */
export interface GrantCrashOptions {
  /** An empty database. */
  url: string
  kills: number
  random: () => number
}

/** The result of a run. */
export interface GrantCrashFigures {
  kills: number
  /** The answers with tokens: for codes, and for refresh tokens. */
  exchanges: number
  refreshes: number
  /** Codes whose answer a kill has taken: their applications ask their user again. */
  unanswered: number
  /** Codes that gave tokens twice, grants that were lost, and refusals of another kind. */
  faults: string[]
}

const CLIENTS = 4

/** How many refresh tokens follow a code. */
const REFRESHES = 5

/** Kills two nodes while applications exchange codes and refresh tokens, and try again what got no answer. */
export async function crashGrants({ url, kills, random }: GrantCrashOptions): Promise<GrantCrashFigures> {
  const config = { ...OAUTH }
  const nodes: ServerProcess[] = [await startProcess(url, { config }), await startProcess(url, { config })]
  await settle(nodes[0]!.base_url)
  const chat = createChatService(parseConfig(config), await openStorage({ database: url }))
  await chat.start()
  const here = { chat } as Parameters<typeof allow>[0]
  await addClient(here)
  const [user] = (await chat.users.list({ user_id: '', roles: ['admin'] })).users
  const figures: GrantCrashFigures = { kills: 0, exchanges: 0, refreshes: 0, unanswered: 0, faults: [] }

  /** Asks either node; `undefined` without an answer. */
  async function ask(fields: Record<string, string>): Promise<Answered | undefined> {
    const node = nodes[random() < 0.5 ? 0 : 1]!
    try {
      const body = new URLSearchParams({ client_id: AGENT.client_id, ...fields })
      const response = await fetch(`${node.base_url}/oauth/token`, { method: 'POST', body })
      return { status: response.status, ...(await response.json()) }
    } catch {
      return undefined
    }
  }

  /** As {@link ask}, again until there is an answer of a service that is there. */
  async function insist(fields: Record<string, string>): Promise<{ answer: Answered; tries: number }> {
    for (let tries = 1; ; tries++) {
      const answer = await ask(fields)
      if (answer && answer.status < 500) return { answer, tries }
      await sleep(20)
    }
  }

  async function runClient(): Promise<void> {
    while (figures.kills < kills) {
      const { code, code_verifier } = await allow(here, user!)
      const form = { ...EXCHANGE, code, code_verifier }
      const { answer, tries } = await insist(form)
      if (answer.status !== 200) {
        if (tries === 1) figures.faults.push(`a code was refused at once: ${answer.error}`)
        figures.unanswered++
        continue
      }
      figures.exchanges++
      let { refresh_token } = answer
      for (let n = 0; n < REFRESHES; n++) {
        const next = await insist({ grant_type: 'refresh_token', refresh_token })
        if (next.answer.status === 200) figures.refreshes++
        else figures.faults.push(`a grant was lost at refresh ${n}, try ${next.tries}: ${next.answer.error}`)
        refresh_token = next.answer.refresh_token ?? refresh_token
      }
      const again = await insist(form)
      if (again.answer.status === 200) figures.faults.push('a code gave tokens twice')
    }
  }

  const clients = Promise.all(Array.from({ length: CLIENTS }, runClient))
  while (figures.kills < kills) {
    await sleep(random() * 300)
    const at = random() < 0.5 ? 0 : 1
    const { port } = nodes[at]!
    await nodes[at]!.kill()
    nodes[at] = await startProcess(url, { port, config })
    figures.kills++
  }
  await clients
  const { findings } = await chat.ops.fsck()
  figures.faults.push(...findings.map(({ name }) => `fsck: ${name}`))
  await chat.close()
  await Promise.all(nodes.map((node) => node.kill()))
  return figures
}
