import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { FileToCheck } from 'chat-server'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesFor, startWithFiles, upload } from '../../test/chat/attachments/files.ts'
import { findProgram } from '../../test/support/bus-servers.ts'
import { innerState } from '../../test/support/service.ts'
import { createScan } from './scan.ts'
import { thumbnail } from './thumbnail.ts'

/** What all scanners are tested with; in two halves, so that no scanner finds this file. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD', '-ANTIVIRUS-TEST-FILE!$H+H*'].join('')

const MIB = 1024 * 1024

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-checks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A file in pieces of the size that the service has. */
function fileOf(bytes: Buffer, signal = new AbortController().signal): FileToCheck {
  const created_at = new Date(0).toISOString()
  return {
    attachment: { id: 'a', name: 'a', size: bytes.length, type: 'image/png', status: 'scanning', created_at },
    signal,
    async *open() {
      for (let from = 0; from < bytes.length; from += 4 * MIB) yield bytes.subarray(from, from + 4 * MIB)
    },
  }
}

/** The scanner of a socket on which this answers. */
async function scanner(answer: (socket: Socket) => void) {
  const path = join(newFolder(), 'clamd.ctl')
  const server = createServer((socket) => answer(socket.on('error', () => {}))).listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return createScan({ path })
}

describe('the protocol of clamd', () => {
  it('gets the command, each piece after its length, and an end', async () => {
    const bytes = Buffer.alloc(5 * MIB, 'x')
    let received: Buffer[] = []
    const scan = await scanner((socket) => {
      received = []
      socket.on('data', (piece: Buffer) => {
        received.push(piece)
        if (received.reduce((sum, { length }) => sum + length, 0) === 10 + 4 + 4 * MIB + 4 + MIB + 4)
          socket.end('stream: OK\0')
      })
    })
    expect(await scan(fileOf(bytes))).toEqual({ verdict: 'clean' })
    const sent = Buffer.concat(received)
    expect(sent.subarray(0, 10).toString()).toBe('zINSTREAM\0')
    expect([sent.readUInt32BE(10), sent.readUInt32BE(14 + 4 * MIB), sent.readUInt32BE(sent.length - 4)]).toEqual([
      4 * MIB,
      MIB,
      0,
    ])
  })

  it.each<[string, (socket: Socket) => void]>([
    ['a reply that is no verdict', (socket) => socket.end('INSTREAM size limit exceeded. ERROR\0')],
    ['a connection that ends', (socket) => socket.destroy()],
    ['half a reply', (socket) => socket.end('stream: O')],
  ])('is no verdict with %s', async (_, answer) => {
    const scan = await scanner(answer)
    await expect(scan(fileOf(Buffer.alloc(12 * MIB)))).rejects.toThrow(/clamd replied|ECONNRESET|EPIPE|closed|aborted/)
  })

  it('ends with the time of the service, and without a clamd', async () => {
    const late = new AbortController()
    const scan = await scanner(() => late.abort())
    await expect(scan(fileOf(Buffer.from('x'), late.signal))).rejects.toThrow()
    await expect(createScan({ path: join(newFolder(), 'none') })(fileOf(Buffer.from('x')))).rejects.toThrow('ENOENT')
  })
})

const program = findProgram(['clamd'])

/** Starts a clamd with one signature of its own, so that nothing is downloaded. */
async function startClamd(): Promise<string> {
  const folder = newFolder()
  const path = join(folder, 'clamd.ctl')
  const signature = Buffer.from('EICAR-STANDARD-ANTIVIRUS-TEST-FILE').toString('hex')
  mkdirSync(join(folder, 'db'))
  writeFileSync(join(folder, 'db', 'test.ndb'), `Test.Eicar:0:*:${signature}\n`)
  const settings = [
    `LocalSocket ${path}`,
    `DatabaseDirectory ${join(folder, 'db')}`,
    'Foreground yes',
    'StreamMaxLength 5M',
  ]
  writeFileSync(join(folder, 'clamd.conf'), settings.join('\n'))
  const clamd = spawn(program!, ['--config-file', join(folder, 'clamd.conf')], { stdio: 'ignore' })
  onTestFinished(() => void clamd.kill('SIGKILL'))
  await expect.poll(() => existsSync(path), { timeout: 60_000 }).toBe(true)
  return path
}

it.skipIf(!program)('ClamAV finds a virus, and messages do not get its file', { timeout: 90_000 }, async () => {
  const scan = createScan({ path: await startClamd() })
  expect(await scan(fileOf(Buffer.from('harmless')))).toEqual({ verdict: 'clean' })
  expect(await scan(fileOf(Buffer.alloc(4 * MIB + 1)))).toEqual({ verdict: 'clean' })
  await expect(scan(fileOf(Buffer.alloc(12 * MIB)))).rejects.toThrow(/size limit exceeded|ECONNRESET|EPIPE/)

  const service = await startWithFiles('sqlite::memory:', { ports: { scan } })
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const bytes = await bytesFor(service, ada)
  const { conversation_id } = await ada.conversations.create({ title: 'Files' })
  const id = await upload(ada, bytes, conversation_id, { content: Buffer.from(EICAR) })
  const clean = await upload(ada, bytes, conversation_id, { content: Buffer.from('harmless') })
  await innerState(service).tasks.settle()
  const { attachment } = await ada.attachments.get(id)
  expect(attachment).toMatchObject({ status: 'refused', reason: expect.stringMatching(/^Test\.Eicar/) })
  expect((await bytes.read(`/api/attachments/${id}/content`)).status).toBe(409)
  expect((await ada.attachments.get(clean)).attachment.status).toBe('ready')
})

describe('sharp', () => {
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } })

  it('makes a small picture, which the service serves', async () => {
    const service = await startWithFiles('sqlite::memory:', { ports: { thumbnail } })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const id = await upload(ada, bytes, conversation_id, { content: await picture(1600, 900).png().toBuffer() })
    await innerState(service).tasks.settle()
    expect((await ada.attachments.get(id)).attachment).toMatchObject({ width: 1600, height: 900, thumbnail: true })
    const small = await bytes.read(`/api/attachments/${id}/thumbnail`)
    expect(small.headers.get('content-type')).toBe('image/webp')
    expect(await sharp(await buffer(small.body!)).metadata()).toMatchObject({ format: 'webp', width: 512, height: 288 })
  })

  it('turns a photo as the camera was held, and enlarges nothing', async () => {
    const photo = await picture(300, 100).jpeg().withMetadata({ orientation: 6 }).toBuffer()
    expect(await thumbnail(fileOf(photo))).toMatchObject({ type: 'image/webp', width: 100, height: 300 })
  })

  it('makes none of a file that only begins as a picture', async () => {
    const broken = (await picture(40, 40).png().toBuffer()).subarray(0, 60)
    expect(await thumbnail(fileOf(broken))).toBeUndefined()
  })
})
