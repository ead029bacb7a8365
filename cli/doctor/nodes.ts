import { hostname } from 'node:os'
import { type NodeDetails, readDigestsKey, toDetails } from '../../lib/cluster/details.ts'
import { listNodes, type NodeRow } from '../../lib/cluster/store.ts'
import { differing, fingerprintOf, fingerprintsOf, OWN_KEYS } from '../../lib/config/fingerprints.ts'
import type { Config } from '../../lib/config/parse.ts'
import { findKey } from '../../lib/config/reference.ts'
import { SECOND } from '../../lib/core/units.ts'
import { BUILD } from '../../lib/core/version.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { describeSystemError, toErrorMessage } from '../errors.ts'
import { type Finding, note, ok, skipped, warning } from './finding.ts'

/** The most that are compared, and the most that a message names. */
const MAX_NODES = 1_000
const MAX_NAMED = 10

/** A running node whose row is complete. */
type Node = Pick<NodeRow, 'id' | 'version'> & NodeDetails

/**
 * Compares the running nodes with each other and with this configuration, by digests of the values that each has in its row.
 * Values themselves leave no process.
 */
export async function checkNodes(config: Config, storage: Storage): Promise<Finding[]> {
  try {
    const rows = await readNodes(config, storage)
    const key = await readDigestsKey(storage.db, config)
    if (rows.length === 0 || !key) return [skipped('nodes', NONE)]
    const nodes = rows.flatMap(({ id, version, details }): Node[] => {
      const complete = toDetails(details)
      return complete ? [{ id, version, ...complete }] : []
    })
    return judgeNodes(config, key, { nodes, count: rows.length })
  } catch (error) {
    const reason = describeSystemError(error) ?? toErrorMessage(error)
    return [skipped('nodes', `The running nodes cannot be read: ${reason}`)]
  }
}

/** The rows of the running nodes. */
async function readNodes(config: Config, { db, signals }: Storage): Promise<NodeRow[]> {
  if (signals && !signals.exists()) return []
  return listNodes(signals ?? db, config.cluster.dead_seconds * SECOND, MAX_NODES)
}

/** The running nodes that find the storage of files, and those that miss it, as of their last heartbeats. */
export interface FilesElsewhere {
  found_by: string[]
  missed_by: string[]
}

/** Asks the running nodes for the storage of files: a disk may be mounted on some machines only. */
export async function findFilesElsewhere(config: Config, storage: Storage): Promise<FilesElsewhere> {
  // Nodes that cannot be read have a finding of their own.
  const rows = await readNodes(config, storage).catch(() => [])
  const namesOf = (isMeant: (files: string) => boolean) =>
    rows.flatMap(({ id, details, files }) => {
      if (files === null || !isMeant(files)) return []
      const place = toDetails(details)
      return [place ? `${place.host} (process ${place.pid})` : id]
    })
  // One that has just begun, without a file, does not show where they are.
  return {
    found_by: namesOf((files) => files !== 'missing' && files !== 'free'),
    missed_by: namesOf((files) => files === 'missing'),
  }
}

const NONE = 'No service runs on this database: its configuration was not compared.'

/** @param count how many run; those of an older version have no details */
export function judgeNodes(
  config: Config,
  key: Uint8Array,
  { nodes, count }: { nodes: Node[]; count: number },
): Finding[] {
  const names = some(
    nodes.map(({ host, pid, port, version }) => `${host} (process ${pid}${port ? `, port ${port}` : ''}, ${version})`),
  )
  const without = count - nodes.length
  const findings = [
    ok(
      'nodes.running',
      `${count} ${count === 1 ? 'node runs' : 'nodes run'}: ${names}${without > 0 ? `${names && '; '}${without} of another version` : ''}.`,
    ),
    ...judgeVersions(nodes),
    ...judgeDifferences(nodes),
    ...judgeHere(config, key, nodes),
    ...judgeDrain(key, nodes),
  ]
  return findings
}

function judgeVersions(nodes: Node[]): Finding[] {
  const versions = [...new Set([BUILD, ...nodes.map(({ version }) => version)])]
  if (versions.length === 1) return []
  const others = nodes.filter(({ version }) => version !== BUILD).map(({ host, version }) => `${host}: ${version}`)
  return [
    note(
      'nodes.other_version',
      `This program is ${BUILD}, and of the nodes ${some(others)}.`,
      'Restart them after an upgrade: nodes of 0.3 know no policies of conversations and no roles of your own.',
    ),
  ]
}

/** Keys in which the nodes differ from the first one. */
function judgeDifferences([first, ...others]: Node[]): Finding[] {
  return others.flatMap((other) => {
    const keys = differingKeys(first!.values, other.values)
    if (keys.length === 0) return []
    const message = `The nodes on ${first!.host} (process ${first!.pid}) and ${other.host} (process ${other.pid}) have other values of ${some(keys)}.`
    return [warning('nodes.differ', message, 'Give both the same configuration, and reload or restart them.')]
  })
}

/** Compares the nodes with the configuration of this command. */
function judgeHere(config: Config, key: Uint8Array, nodes: Node[]): Finding[] {
  const own = fingerprintsOf(config, key)
  // A host opens its storage itself, and may leave the URL out.
  const unset = fingerprintOf('database.url', findKey('database.url')!.default, { key, is_secret: true })
  const findings = new Map<string, Finding>()
  for (const { host, pid, values } of nodes) {
    const keys = differingKeys(own, values).filter((key) => key !== 'database.url' || values[key] !== unset)
    const node = `the node on ${host} (process ${pid})`
    const add = (finding: Finding) => findings.has(finding.code) || findings.set(finding.code, finding)
    if (keys.includes('attachments.storage'))
      add(
        warning(
          'nodes.other_storage',
          `attachments.storage is another place here than in ${node}: commands and checks look at other files than the service.`,
          'Run commands in the folder, and with the configuration, of the service.',
        ),
      )
    if (keys.includes('server.public_url'))
      add(
        warning(
          'nodes.other_public_url',
          `server.public_url is another here than in ${node}: links in its mails, and sign-ins, lead to another address.`,
          'Set the same one everywhere, and restart the node.',
        ),
      )
    const rest = keys.filter((key) => key !== 'attachments.storage' && key !== 'server.public_url')
    if (rest.length > 0) add(notReloaded(rest, { node, isHere: host === hostname() }))
  }
  return [...findings.values()]
}

function notReloaded(keys: string[], { node, isHere }: { node: string; isHere: boolean }): Finding {
  const needRestart = keys.filter((key) => !findKey(key)?.reload)
  const why = isHere ? 'The file was changed and not reloaded, or the service has another environment or flags.' : ''
  const remedy =
    needRestart.length === 0
      ? 'Run "chat-server reload".'
      : `Restart it: ${some(needRestart)} cannot be reloaded. Or give this command the configuration of the service.`
  return warning(
    'nodes.not_reloaded',
    `${capital(node)} runs with other values of ${some(keys)} than this command. ${why}`.trim(),
    remedy,
  )
}

/** Two places behind a balancer, of which one stops unnoticed. Workers of one port are one place. */
function judgeDrain(key: Uint8Array, nodes: Node[]): Finding[] {
  const zero = fingerprintOf('server.drain_delay_seconds', 0, { key, is_secret: false })
  const places = new Set(nodes.map(({ host, port, pid }) => `${host} ${port ?? `process ${pid}`}`))
  const without = nodes.filter(({ values }) => values['server.drain_delay_seconds'] === zero)
  if (places.size < 2 || without.length === 0) return []
  return [
    warning(
      'nodes.no_drain',
      `${places.size} nodes run, and server.drain_delay_seconds is 0: the balancer still sends requests to a node that has stopped.`,
      'Set it to the time that the balancer needs to notice a failed /readyz, such as 5, and restart the nodes.',
    ),
  ]
}

const differingKeys = (one: NodeDetails['values'], other: NodeDetails['values']) =>
  differing(one, other).filter((key) => !OWN_KEYS.includes(key))

/** A list for a message, which names ten of them. */
export function some(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_NAMED).join(', ')
  return texts.length > MAX_NAMED ? `${named}, and ${texts.length - MAX_NAMED} more` : named
}

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)
