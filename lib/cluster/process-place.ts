import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Where a process runs, as it is stored: others of its machine see by it whether it has ended. */
export interface ProcessPlace {
  /** The host name and, where there is one, the id of the machine. */
  machine: string
  /** `cluster.instance` of its service. */
  instance: string
  /** Processes with the same text see each other's ids: those of one machine since its start, outside of containers. */
  pids: string
  pid: number
  /** When the process began, in ticks of the system: its id may belong to a later one. Empty if that is unknown. */
  began: string
}

/** @param instance `cluster.instance` */
export function ownPlace(instance: string): ProcessPlace {
  const machine = `${hostname()} ${textOf('/etc/machine-id')}`
  const boot = textOf('/proc/sys/kernel/random/boot_id')
  const pids = boot ? `${boot} ${namespaceOfPids()}` : machine
  return { machine, instance, pids, pid: process.pid, began: statOf(process.pid)?.began ?? '' }
}

/** @returns `undefined` for a text of another version */
export function toPlace(text: string): ProcessPlace | undefined {
  try {
    const { machine, instance, pids, pid, began } = JSON.parse(text)
    return Number.isSafeInteger(pid) && pid > 0 ? { machine, instance, pids, pid, began } : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a process has certainly ended. Outside its container its id is not visible: there a process with the same host name
 * and instance takes its place.
 */
export function hasEnded(other: ProcessPlace, own: ProcessPlace): boolean {
  if (other.pids === own.pids) return !isRunning(other)
  return other.machine === own.machine && other.instance === own.instance
}

function isRunning({ pid, began }: ProcessPlace): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Otherwise it runs as another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const stat = statOf(pid)
  if (!stat) return true
  // One that was killed has an id until its parent has noticed.
  return stat.state !== 'Z' && (began === '' || stat.began === began)
}

/** `undefined` where the system does not show it. */
function statOf(pid: number): { state: string | undefined; began: string } | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  if (!text) return undefined
  // Behind the name, which may contain anything: proc_pid_stat(5), fields 3 and 22.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0], began: fields[19] ?? '' }
}

/** The text of a small file; empty without it. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

function namespaceOfPids(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
