import type { CutPeople, CutProbes } from './cut-load.ts'
import { type CutStage, NAME_OF_CUT } from './cut-stage.ts'
import type { Probe } from './probes.ts'

/** The connections of a node: `database.pool_size`. */
const POOL = 10

/** The longest times of responses during a cut, and responses that should not be. */
export function responsesOf({ elsewhere, atCut, ready, alive }: CutProbes) {
  const slowest = (probes: Probe[]) => Math.max(...probes.map((probe) => probe.slowest_ms()))
  return {
    slowest_ms: slowest(atCut),
    slowest_probe_ms: slowest([ready, alive]),
    slowest_elsewhere_ms: slowest(elsewhere),
    refused: atCut.reduce((sum, probe) => sum + (probe.statuses().get(503) ?? 0), 0),
    faults: [
      ...elsewhere.flatMap((probe) => unexpected('the other node', probe, [200, 201])),
      ...atCut.flatMap((probe) => unexpected('the node', probe, [200, 201, 503])),
      ...unexpected('/readyz of the node', ready, [200, 503]),
      ...unexpected('/healthz of the node', alive, [200]),
    ],
  }
}

function unexpected(what: string, probe: Probe, expected: number[]): string[] {
  const others = [...probe.statuses()].filter(([status]) => !expected.includes(status))
  return others.map(([status, count]) => `${what} has responded ${count} times with ${status || 'nothing'}`)
}

/** What the streams and both nodes should not show of the presence of users after a cut. */
export async function presenceFaults(
  { ada: adaClient, adaAtCut }: CutStage,
  { ada, here, staying, leaving }: CutPeople,
): Promise<string[]> {
  const [stayingId, leavingId] = [staying.guest.id, leaving.guest.id]
  const faults: string[] = []
  const expect = (what: string, got: string, wanted: string) => {
    if (got !== wanted) faults.push(`${what}: ${got}, not ${wanted}`)
  }
  // Each is introduced as offline when it is added.
  expect('the presence that others were sent', ada.presenceOf(stayingId).join(), 'offline,online,offline,online')
  expect('the presence that was sent here', here.presenceOf(leavingId).join(), 'offline,online,offline')
  for (const client of [adaClient, adaAtCut]) {
    const { presence } = await client.presence.list({ user_ids: [stayingId, leavingId].join() })
    const statusOf = (id: string) => presence.find(({ user_id }) => user_id === id)?.status ?? 'offline'
    expect('the presence that is read', [statusOf(stayingId), statusOf(leavingId)].join(), 'online,offline')
  }
  return faults
}

/** What a cut has left in the database. @param areLost whether the server does not know that connections have ended */
export async function leftoversIn(
  { ada, query }: CutStage,
  { staying, leaving }: CutPeople,
  areLost: boolean,
): Promise<string[]> {
  const { nodes } = await ada.nodes.list()
  const present = await query<{ user_id: string }>(
    'SELECT user_id FROM node_presence WHERE user_id = ANY ($1) AND since IS NOT NULL',
    [[staying.guest.id, leaving.guest.id]],
  )
  const answers = await query('SELECT message_id FROM answers_under_way')
  const sessions = await query<{ state: string }>('SELECT state FROM pg_stat_activity WHERE application_name = $1', [
    NAME_OF_CUT,
  ])
  const checks: [count: number, most: number, what: string][] = [
    [nodes.length, 2, 'nodes'],
    [present.length, 1, 'rows of users with a stream'],
    [answers.length, 0, 'answers in progress'],
    [areLost ? 0 : sessions.length, POOL, 'connections'],
  ]
  return checks.filter(([count, most]) => count > most).map(([count, , what]) => `there are ${count} ${what}`)
}
