import { createHash } from 'node:crypto'
import type { ChatClient } from '../../lib/client/index.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { bytesOf, exif, JPEG, segment } from '../support/pictures.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'

const PART = 4 * 1024 * 1024

/** A service that is killed again and again while files are uploaded. */
export interface UploadCrashes {
  /** An empty database. */
  url: string
  /** The storage of files. */
  folder: string
  cycles: number
  /** The uploads under way at each kill. */
  uploads: number
  random: () => number
}

/** The result of a run. */
export interface UploadFigures {
  uploads: number
  /** Parts that were acknowledged. */
  parts: number
  /** Bytes that are missing or others, and uploads that did not go on. */
  faults: string[]
}

/** Kills the service under uploads, checks every byte, and lets the uploads go on. */
export async function crashUploads({ url, folder, cycles, uploads, random }: UploadCrashes): Promise<UploadFigures> {
  const config = { attachments: { enabled: true, storage: `fs:${folder}` } }
  let server = await startProcess(url, { config })
  const { base_url, port } = server
  const figures: UploadFigures = { uploads: 0, parts: 0, faults: [] }
  try {
    const place = await settle(base_url)
    const client = await place.signIn()
    for (let cycle = 0; cycle < cycles; cycle++) {
      const files = Array.from({ length: uploads }, (_, n) =>
        fileOf(`${cycle}-${n}`, 1 + Math.floor(random() * 3 * PART)),
      )
      const killed = deferred()
      let left = 1 + Math.floor(random() * uploads * 2)
      const onPart = () => {
        figures.parts++
        if (--left === 0) killed.resolve()
      }
      const under_way = files.map((file) => send(client, place.conversation_id, file, onPart))
      await Promise.race([killed.promise, Promise.allSettled(under_way)])
      await server.kill()
      figures.faults.push(...(await lossesIn(url, config)))
      server = await startProcess(url, { port, config })
      // What was broken off is sent again by the client itself.
      for (const [n, outcome] of (await Promise.allSettled(under_way)).entries())
        if (outcome.status === 'rejected') figures.faults.push(`upload ${n} did not go on: ${outcome.reason}`)
      figures.uploads += uploads
    }
    await server.kill()
    figures.faults.push(...(await lossesIn(url, config)))
    return figures
  } finally {
    await server.kill()
  }
}

/** Every second one is a JPEG with another one behind it, which is stored anew without that once all parts are there. */
function fileOf(name: string, size: number): File {
  const bytes = Buffer.alloc(size, createHash('sha512').update(name).digest())
  const isPicture = Number(name.split('-')[1]) % 2 === 1 && size > BEFORE.length + BEHIND.length
  if (!isPicture) return new File([bytes], `${name}.bin`)
  bytes.set(BEFORE)
  bytes.set(BEHIND, size - BEHIND.length)
  return new File([bytes], `${name}.jpg`)
}

const BEFORE = bytesOf(JPEG.start, JPEG.picture)
const BEHIND = bytesOf(JPEG.end, JPEG.start, segment(0xe1, exif('II', 1)), JPEG.picture, JPEG.end)

/** Uploads a file, and reads it again. */
async function send(client: ChatClient, conversation_id: string, file: File, onPart: () => void): Promise<void> {
  let sent = 0
  let known: string | undefined
  for (;;) {
    try {
      const attachment = await client.upload(conversation_id, file, {
        ...(known !== undefined && { attachment_id: known }),
        onProgress(progress) {
          known = progress.attachment.id
          if (progress.sent > sent) onPart()
          sent = progress.sent
        },
      })
      if (attachment.status !== 'ready' || attachment.size !== file.size) throw new Error(`it is ${attachment.status}`)
      return
    } catch (error) {
      // The first call of an upload is not repeated by the client, as it would begin another.
      if (!(error instanceof TypeError)) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** What the database names and the storage of files has not, byte by byte. */
async function lossesIn(url: string, config: object): Promise<string[]> {
  const storage = await openStorage({ database: url })
  const chat = createChatService(parseConfig(config), storage)
  try {
    await chat.start({ background: false })
    const { findings } = await chat.ops.fsckFiles({ read: true })
    const { garbage, unfinished } = await chat.ops.collectFiles({ dry_run: true })
    const notes = garbage > 0 ? [`${garbage} parts without a row, ${unfinished} unfinished`] : []
    return [...findings.map(({ name, count, examples }) => `${name} (${count}): ${examples.join()}`), ...notes]
  } finally {
    await chat.close()
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
