import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Linux reports CPU time to user space in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100

/** Where in `/proc/<pid>/stat`, counted from the state, the times begin: user, system, and both of ended children. */
const FIRST_TIME = 11

/** Why CPU and memory of another process cannot be read here, if they cannot. */
export function processFiguresMissing(): string | undefined {
  try {
    residentBytes(process.pid)
    cpuSeconds(process.pid)
    return undefined
  } catch {
    return `no /proc on ${process.platform}: CPU and memory of the servers cannot be read`
  }
}

/** User and system time that the process, over all its threads, and its children have used so far, in seconds. */
export function cpuSeconds(pid: number): number {
  return childrenOf(pid).reduce(
    (sum, child) => {
      try {
        return sum + cpuSeconds(child)
      } catch {
        // It has ended since; its time is now among that of its parent.
        return sum
      }
    },
    sumOfTicks(timesOf(pid)),
  )
}

function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
  return list.split(' ').filter(Boolean).map(Number)
}

/** What others take is read in hundredths of a second. */
const MIN_SECONDS = 0.5

/**
 * Begins to watch what other programs take from the bench. Servers count as the bench's own once they have ended.
 *
 * @returns a function that tells their share of the machine's CPU since, from 0 to 1, or undefined without `/proc`
 */
export function watchOthers(): () => number | undefined {
  if (processFiguresMissing()) return () => undefined
  const started = performance.now()
  const before = othersSeconds()
  return () => {
    const seconds = (performance.now() - started) / 1000
    // A row that shows the run of another one: servers that have just ended would count as others.
    if (seconds < MIN_SECONDS) return undefined
    const available = seconds * availableParallelism()
    return Math.max(0, othersSeconds() - before) / available
  }
}

function othersSeconds(): number {
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!
  const [user, nice, system] = line.split(/ +/).slice(1)
  return sumOfTicks([user!, nice!, system!]) - sumOfTicks(timesOf(process.pid))
}

/** User and system time, then both of the children that have ended. */
function timesOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The command's name comes first, in parentheses, and may hold blanks: count from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(FIRST_TIME, FIRST_TIME + 4)
}

function sumOfTicks(ticks: string[]): number {
  return ticks.reduce((sum, value) => sum + Number(value), 0) / TICKS_PER_SECOND
}

/** Resident memory of the process; what the kernel holds for its sockets is not in it. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  if (!line) throw new Error(`process ${pid} has ended`)
  return Number(line[1]) * 1024
}

/** How many files this process and its children may have open. */
function openFileLimit(): number {
  const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
  return line?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line?.[1])
}

/** Beside its connections a process has other files open. */
const OTHER_FILES = 200

/** Why a process cannot have so many connections open, if it cannot. */
export function connectionsMissing(count: number): string | undefined {
  const needed = count + OTHER_FILES
  const limit = openFileLimit()
  return limit < needed ? `${count} connections need ulimit -n ${needed}, it is ${limit}` : undefined
}
