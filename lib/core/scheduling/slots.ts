import { ChatError } from '../errors.ts'

/** A bound, or a function that returns the current one: a reload may change it. */
type Bound = number | (() => number)

/** What a limiter allows. Each bound is infinite by default. */
export interface SlotsOptions {
  /** The weight of all slots together. One alone may weigh more. */
  max?: Bound
  /** The slots of a key. */
  perKey?: Bound
  /** How many wait, in all, of a key and in a line. */
  maxWaiting?: number
  maxWaitingPerKey?: number
  maxWaitingPerLine?: number
  /** How many of those that ask for it may wait ahead of all lines, when they get no other place. Default: none */
  reserved?: number
  /**
   * Prefers keys that have less: the next slot is for the key with the fewest, and a full queue refuses the last one of
   * the key with the most in it to let in one of a key with fewer.
   */
  fewestFirst?: boolean
  /** The error when all together have too much, by default `unavailable`, and when a key has, by default that of all. */
  refuse?: { all?: () => Error; key?: () => Error }
}

/** What one caller asks for. */
export interface SlotRequest {
  /** Ends the wait; a slot that was given stays. */
  signal?: AbortSignal
  /** Called if it has to wait, with what ends that. It costs less than a signal, which counts where thousands wait. */
  onWait?: (leave: () => void) => unknown
  /** Default: 1 */
  weight?: number
  /**
   * The line in which it waits. Lines take turns, and each is in the order of arrival. Default, and without `max`: one for
   * each key.
   */
  line?: string
  /** Whether it may wait in a reserved place. */
  isPrivileged?: boolean
}

/** Gives a slot back; may be called again. */
export type Release = () => void

/** Limits how much runs at a time. */
export interface Slots<Key = string> {
  /** Takes a slot without waiting; `undefined` if none is free. */
  tryAcquire(key: Key, weight?: number): Release | undefined
  /** Waits for a slot. @throws the error of `refuse`; the reason of the signal */
  acquire(key: Key, request?: SlotRequest): Promise<Release>
  /** Runs `work` in a slot, at once if one is free. @throws what `acquire` and `work` throw */
  run<T>(key: Key, work: () => Promise<T>, request?: SlotRequest): Promise<T>
  /** The slots of a key, and how many wait for one. */
  count(key: Key): Readonly<Share>
  /** The weight of all slots. */
  weight(): number
  /** The keys that wait for a slot. */
  waitingKeys(): Key[]
}

interface Share {
  running: number
  waiting: number
}

interface Waiter<Key> {
  key: Key
  weight: number
  line: unknown
  /** The share of the key, which exists as long as one of the key waits. */
  share: Share
  begin(release: Release): void
  refuse(error: unknown): void
}

const NONE: Share = { running: 0, waiting: 0 }

/** The line that is always the first one. */
const RESERVED = Symbol('reserved')

const currentOf = (bound: Bound) => (typeof bound === 'number' ? bound : bound())

const unavailable = () => new ChatError('unavailable', { retry_after_seconds: 1 })

/**
 * Creates a limiter. Keys take turns, and one that has its share does not hold up the others. A heavy one whose turn it is
 * waits until there is room for it, and lighter ones behind it wait as well: it would otherwise never begin.
 */
export function createSlots<Key = string>({
  max = Number.POSITIVE_INFINITY,
  perKey = Number.POSITIVE_INFINITY,
  maxWaiting = Number.POSITIVE_INFINITY,
  maxWaitingPerKey = Number.POSITIVE_INFINITY,
  maxWaitingPerLine = Number.POSITIVE_INFINITY,
  reserved = 0,
  fewestFirst = false,
  refuse = {},
}: SlotsOptions): Slots<Key> {
  const shares = new Map<Key, Share>()
  const lines = new Map<unknown, Set<Waiter<Key>>>([[RESERVED, new Set()]])
  const sum = { weight: 0, waiting: 0 }
  const hasMax = max !== Number.POSITIVE_INFINITY
  const refuseAll = refuse.all ?? unavailable
  const refuseKey = refuse.key ?? refuseAll

  function add(key: Key, running: number, waiting: number): Share {
    const share = shares.get(key) ?? { ...NONE }
    share.running += running
    share.waiting += waiting
    if (share.running + share.waiting > 0) shares.set(key, share)
    else shares.delete(key)
    return share
  }

  const countOf = (key: Key): Readonly<Share> => shares.get(key) ?? NONE
  const fits = (weight: number) => sum.weight === 0 || sum.weight + weight <= currentOf(max)

  /** The one whose turn it is. */
  function next(among: Iterable<Iterable<Waiter<Key>>> = lines.values()): Waiter<Key> | undefined {
    const most = currentOf(perKey)
    let first: Waiter<Key> | undefined
    for (const line of among)
      for (const waiter of line) {
        const mayBegin = waiter.share.running < Math.min(most, first?.share.running ?? most)
        if (mayBegin && !fewestFirst) return waiter
        if (mayBegin) first = waiter
        // The others behind it are of the same key, so the answer is the same. There may be thousands.
        if (waiter.line === waiter.share) break
      }
    return first
  }

  /** Lets those begin that waited for something of `key`. Without a sum, these are others of the key. */
  function beginNext(key: Key): void {
    const find = () => next(hasMax ? undefined : [lines.get(shares.get(key)) ?? []])
    for (let waiter = find(); waiter && fits(waiter.weight); waiter = find()) {
      leave(waiter, true)
      waiter.begin(begin(waiter.key, waiter.weight))
    }
  }

  function begin(key: Key, weight: number): Release {
    add(key, 1, 0)
    sum.weight += weight
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      add(key, -1, 0)
      sum.weight -= weight
      beginNext(key)
    }
  }

  function tryAcquire(key: Key, weight = 1): Release | undefined {
    const isFree = countOf(key).running < currentOf(perKey) && fits(weight) && !(hasMax && next())
    return isFree ? begin(key, weight) : undefined
  }

  /** Lets the last one of the key with the most go, unless `key` has as many. */
  function makeRoom(key: Key): void {
    const all = [...lines.values()].flatMap((line) => [...line])
    const last = all.reduce((most, each) => (each.share.waiting >= most.share.waiting ? each : most))
    if (last.share.waiting <= countOf(key).waiting + 1) throw refuseAll()
    leave(last)
    last.refuse(refuseAll())
  }

  /** The line in which one may wait; that of a key is its share. */
  function lineFor(key: Key, request: SlotRequest): unknown {
    const line = (hasMax ? request.line : undefined) ?? shares.get(key)
    if (countOf(key).waiting >= maxWaitingPerKey) throw refuseKey()
    const ahead = lines.get(RESERVED)!.size
    const isFull = sum.waiting - ahead >= maxWaiting
    const isLineFull = (lines.get(line)?.size ?? 0) >= maxWaitingPerLine
    if ((isFull || isLineFull) && request.isPrivileged && ahead < reserved) return RESERVED
    if (isLineFull) throw refuseKey()
    if (isFull && !fewestFirst) throw refuseAll()
    if (isFull) makeRoom(key)
    return line
  }

  /** @param isServed its line is then behind the others */
  function leave(waiter: Waiter<Key>, isServed = false): void {
    const line = lines.get(waiter.line)!
    line.delete(waiter)
    sum.waiting--
    add(waiter.key, 0, -1)
    if (waiter.line === RESERVED) return
    if (isServed || line.size === 0) lines.delete(waiter.line)
    if (line.size > 0) lines.set(waiter.line, line)
  }

  function wait(key: Key, request: SlotRequest): Promise<Release> {
    const { signal, onWait, weight = 1 } = request
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const place = lineFor(key, request)
      sum.waiting++
      const share = add(key, 0, 1)
      const line = place ?? share
      const waiter: Waiter<Key> = {
        key,
        weight,
        line,
        share,
        begin(release) {
          signal?.removeEventListener('abort', stop)
          resolve(release)
        },
        refuse: reject,
      }
      function stop(): void {
        if (!lines.get(line)?.has(waiter)) return
        leave(waiter)
        reject(signal?.reason)
        // It may have been a heavy one, whose turn it was.
        beginNext(key)
      }
      lines.set(line, (lines.get(line) ?? new Set()).add(waiter))
      signal?.addEventListener('abort', stop)
      onWait?.(stop)
    })
  }

  return {
    tryAcquire,
    acquire: async (key, request = {}) => tryAcquire(key, request.weight) ?? wait(key, request),
    async run(key, work, request = {}) {
      const release = tryAcquire(key, request.weight) ?? (await wait(key, request))
      try {
        return await work()
      } finally {
        release()
      }
    },
    count: countOf,
    weight: () => sum.weight,
    waitingKeys: () => [...shares].filter(([, { waiting }]) => waiting > 0).map(([key]) => key),
  }
}
