import type { JSONWebKeySet } from 'jose'
import type { Log } from '../../context.ts'
import { OutgoingFailure } from '../../outgoing/failure.ts'
import type { Outgoing, OutgoingAnswer } from '../../outgoing/outgoing.ts'
import { createKeySet, KEYS_HEADERS, type KeySet } from '../jwt/key-set.ts'
import { ageOf, isDocumentUrl, type OAuthClient, readDocument } from './rules.ts'

/** How long the host of a client may take, its name included. */
const TIMEOUT_MS = 5_000

/** Far above any document of a client, and any set of keys. */
const MAX_BYTES = 16 * 1024

/** How many clients have their keys in memory. */
const MAX_KEY_SETS = 100

/**
 * A document that was read, and how long it is used; or why there is none, in a sentence for people. `is_passing`: its host fails,
 * so that what it said before may still be right.
 */
export type FetchedDocument = { client: OAuthClient; age: number } | { problem: string; is_passing?: boolean }

/** Reads what clients publish of themselves. */
export interface ClientDocuments {
  /** Reads a metadata document, and the keys that it names. Calls for one document at a time share a request. */
  fetch(clientId: string): Promise<FetchedDocument>
  /** The keys at the address that a client names. */
  keysAt(url: string): KeySet
}

/** Creates what reads the documents and the keys of clients, whose addresses are judged as those of webhooks. */
export function createClientDocuments({ outgoing, log }: { outgoing: Outgoing; log: Log }): ClientDocuments {
  const reading = new Map<string, Promise<FetchedDocument>>()
  const keySets = new Map<string, KeySet>()

  function keysAt(url: string): KeySet {
    const keys = keySets.get(url) ?? createKeySet(() => readKeys(outgoing, url), report(url))
    // A map has its entries in the order in which they were added.
    keySets.delete(url)
    keySets.set(url, keys)
    const [oldest] = keySets.keys()
    if (keySets.size > MAX_KEY_SETS) keySets.delete(oldest!)
    return keys
  }

  const report = (url: string) => (reason: string) =>
    log.info('The keys of a client cannot be read', { url: new URL(url).origin, reason })

  async function read(clientId: string): Promise<FetchedDocument> {
    const document = await readAt(outgoing, clientId)
    if ('problem' in document) return document
    const { jwks_uri } = document.client
    if (jwks_uri !== undefined && !(await keysAt(jwks_uri).load()))
      return { problem: 'the keys at its jwks_uri cannot be read', is_passing: true }
    return document
  }

  return {
    keysAt,
    fetch(clientId) {
      const promise = reading.get(clientId) ?? read(clientId).finally(() => reading.delete(clientId))
      reading.set(clientId, promise)
      return promise
    },
  }
}

async function readAt(outgoing: Outgoing, clientId: string): Promise<FetchedDocument> {
  if (!isDocumentUrl(clientId)) return { problem: 'its address is not one of a metadata document' }
  try {
    const answer = await request(outgoing, clientId, { accept: 'application/json' })
    const document = readDocument(clientId, toJson(answer))
    return 'problem' in document ? document : { ...document, age: ageOf(answer.headers['cache-control']) }
  } catch (error) {
    return { problem: problemOf(error), is_passing: isPassing(error) }
  }
}

async function readKeys(outgoing: Outgoing, url: string): Promise<JSONWebKeySet> {
  return toJson(await request(outgoing, url, KEYS_HEADERS)) as JSONWebKeySet
}

function request(outgoing: Outgoing, url: string, headers: Record<string, string>): Promise<OutgoingAnswer> {
  return outgoing.call(url, {
    headers,
    timeout_ms: TIMEOUT_MS,
    max_body: MAX_BYTES,
    accepts: (status) => status === 200,
  })
}

/** What cannot be used, in our own words. */
class UnusableAnswer extends Error {}

function toJson({ body, is_whole }: OutgoingAnswer): unknown {
  if (!is_whole) throw new UnusableAnswer(`it is larger than ${MAX_BYTES / 1024} KiB`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new UnusableAnswer('it is no JSON')
  }
}

/** A host that has no document any more, or another one, or that leads inside, does not fail. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof OutgoingFailure) || error.reason === 'address_forbidden') return false
  const { status = 500 } = error.answer ?? {}
  return status >= 500 || status === 429
}

function problemOf(error: unknown): string {
  if (error instanceof UnusableAnswer) return error.message
  if (!(error instanceof OutgoingFailure)) throw error
  const { reason, answer } = error
  if (reason === 'status') return `its host answers with status ${answer?.status}`
  if (reason === 'timeout') return `its host takes longer than ${TIMEOUT_MS / 1000} seconds`
  if (reason === 'address_forbidden') return 'its address is none that this service calls'
  return `its host cannot be reached (${reason})`
}
