import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settle } from '../people.ts'
import { serve, tryServe } from './serving.ts'

/** A database to damage, and its content. */
export interface Specimen {
  file: string
  /** Everything that its reader can read. */
  text: string
  cookie: string
  remove(): void
}

const THREADS = 20
const REPLIES = 10
const PAGE = 4096

/** Writes a database and kills its writer, so that its last commits are in the WAL. */
export async function makeSpecimen(): Promise<Specimen> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-damage-'))
  const file = join(folder, 'chat.db')
  const server = await serve(`sqlite:${file}`)
  try {
    const { conversation_id, signIn, cookie } = await settle(server.base_url)
    const ada = await signIn()
    for (let thread = 0; thread < THREADS; thread++) {
      const content = `${thread} ${'grüß 🥊 '.repeat(100)}`
      const { message_id } = await ada.messages.postRoot(conversation_id, { content })
      const params = { parent_id: message_id }
      for (let n = 0; n < REPLIES; n++) await ada.messages.reply(params.parent_id, { content: `${n} ${content}` })
    }
    const own = await cookie()
    const { text } = await readAll(server.base_url, own)
    return { file, text, cookie: own, remove: () => rmSync(folder, { recursive: true }) }
  } finally {
    await server.kill()
  }
}

/** The kinds of damage to a copy. Each may take its numbers from `random`. */
export const DAMAGES: Record<string, (file: string, random: () => number) => void> = {
  'not a database': (file) => writeFileSync(file, 'Dear diary, '.repeat(1_000)),
  'empty, beside its WAL': (file) => writeFileSync(file, ''),
  'gone, beside its WAL': (file) => rmSync(file),
  'cut in half': (file) => truncateSync(file, Math.floor(statSync(file).size / PAGE / 2) * PAGE),
  'WAL cut in half': (file) => truncateSync(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2)),
  'WAL gone': (file) => rmSync(`${file}-wal`),
  'shm gone': (file) => rmSync(`${file}-shm`),
  'shm of noise': (file, random) => scribble(`${file}-shm`, 0, statSync(`${file}-shm`).size, random),
  'first page of noise': (file, random) => scribble(file, 0, 100, random),
  'a page of noise': (file, random) => scribblePage(file, random),
}

/** Damage to a WAL whose data is not in the database, so that its loss cannot be detected. */
export const LOSSES = ['WAL cut in half', 'WAL gone']

/** How a service reacted. */
export type Outcome = 'refused to start' | 'answered 503' | 'went on with all of it' | 'went on with what was left'

/**
 * Damages a copy, and starts a service on it.
 *
 * @returns the reaction
 * @throws Error for a wrong reaction: a crash, a stack, an unclear error, or silently missing data
 */
export async function damage(
  specimen: Specimen,
  how: (file: string) => void,
  { mayLose = false }: { mayLose?: boolean } = {},
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-damaged-'))
  try {
    const file = join(folder, 'chat.db')
    for (const end of ['', '-wal', '-shm']) {
      if (existsSync(specimen.file + end)) copyFileSync(specimen.file + end, file + end)
    }
    how(file)
    const started = await tryServe(`sqlite:${file}`)
    if (!('base_url' in started)) {
      if (started.code !== 1 || /\n\s+at /.test(started.log))
        throw new Error(`It ended with ${started.code ?? started.signal}: ${started.log}`)
      return 'refused to start'
    }
    try {
      const { status, text } = await readAll(started.base_url, specimen.cookie)
      if (!started.isAlive()) throw new Error(`It crashed: ${started.log()}`)
      if (status === 503) {
        const readiness = await fetch(`${started.base_url}/readyz`)
        if (readiness.status !== 503) throw new Error(`It answered 503, and /readyz ${readiness.status}`)
        return 'answered 503'
      }
      if (status === 200 && text === specimen.text) return 'went on with all of it'
      if (!mayLose) throw new Error(`It answered ${status} and ${text.length} of ${specimen.text.length} characters`)
      return 'went on with what was left'
    } finally {
      await started.kill()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Checkpoints the WAL, so that damage to the database file has an effect. */
export async function settleSpecimen(specimen: Specimen): Promise<void> {
  const server = await serve(`sqlite:${specimen.file}`)
  await server.stop()
}

async function readAll(base_url: string, cookie: string): Promise<{ status: number; text: string }> {
  const texts: string[] = []
  const read = async (path: string) => {
    const response = await fetch(base_url + path, { headers: { cookie } })
    const text = await response.text()
    texts.push(text)
    return { status: response.status, text }
  }
  const list = await read('/api/conversations')
  if (list.status !== 200) return list
  for (const { id } of JSON.parse(list.text).conversations) {
    const threads = await read(`/api/conversations/${id}/threads?limit=200`)
    if (threads.status !== 200) return threads
    for (const { root_id } of JSON.parse(threads.text).threads) {
      const tree = await read(`/api/threads/${root_id}/tree?limit=500`)
      if (tree.status !== 200) return tree
    }
  }
  return { status: 200, text: texts.join('\n') }
}

function scribblePage(file: string, random: () => number): void {
  const pages = Math.floor(statSync(file).size / PAGE)
  scribble(file, (1 + Math.floor(random() * (pages - 1))) * PAGE, PAGE, random)
}

function scribble(file: string, position: number, length: number, random: () => number): void {
  const noise = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)))
  const handle = openSync(file, 'r+')
  writeSync(handle, noise, 0, length, position)
  closeSync(handle)
}
