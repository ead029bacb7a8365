import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

const TYPES = { 1: 'A', 5: 'CNAME', 28: 'AAAA' } as const

/** A question, and how often it was asked before. */
export interface Question {
  name: string
  type: 'A' | 'AAAA'
  before: number
}

/** The records for a question, `undefined` for no such name, `silence` for no answer. A name is a CNAME to it. */
export type Answers = (question: Question) => readonly string[] | 'silence' | undefined

/** A DNS server over UDP. */
export interface DnsServer {
  /** As `setServers` takes it. */
  address: string
  /** The questions so far, such as `A name.test`. */
  questions: string[]
  close(): void
}

/** Starts a server that answers each question by a function. A chain of CNAMEs ends with the addresses of its last name. */
export async function startDnsServer(answers: Answers): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const questions: string[] = []
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message)
    const kind = TYPES[type as keyof typeof TYPES]
    if (kind === undefined || kind === 'CNAME') return
    const before = questions.filter((question) => question === `${kind} ${name}`).length
    questions.push(`${kind} ${name}`)
    const records = answers({ name, type: kind, before })
    if (records === 'silence') return
    socket.send(toResponse(message, { name, end, records }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, questions, close: () => socket.close() }
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function toResponse(
  message: Buffer,
  { name, end, records }: { name: string; end: number; records: readonly string[] | undefined },
): Buffer {
  const header = Buffer.from(message.subarray(0, 12))
  header.writeUInt16BE(0x8180 | (records ? 0 : 3), 2)
  header.writeUInt16BE(records?.length ?? 0, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  let owner = name
  const answers = (records ?? []).map((record) => {
    const encoded = encodeRecord(owner, record)
    if (!/[:]|^[\d.]+$/.test(record)) owner = record
    return encoded
  })
  return Buffer.concat([header, message.subarray(12, end), ...answers])
}

function encodeRecord(owner: string, record: string): Buffer {
  const [type, value] = isIPv4(record)
    ? [1, Buffer.from(record.split('.').map(Number))]
    : record.includes(':')
      ? [28, encodeIPv6(record)]
      : [5, encodeName(record)]
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(value.length, 8)
  return Buffer.concat([encodeName(owner), fixed, value])
}

function encodeName(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])
}

function encodeIPv6(address: string): Buffer {
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...first!, ...Array.from({ length: 8 - first!.length - last!.length }, () => '0'), ...last!]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
