import { join } from 'node:path'
import type { ChatTarget } from '../load/deliver.ts'
import { httpRequest } from '../load/http.ts'
import { postTemplate } from '../load/template.ts'
import { maskedText, upgradeRequest } from '../load/websocket.ts'
import { type Server, startServer, temporaryFolder } from './child.ts'

/** Seeded by the express chat: it has no sign-up. */
const EXPRESS_SESSION = { cookie: 'SESSION_ID=bench' }

/** A peer is run as its author would deploy it. */
const ENVIRONMENT = { NODE_ENV: 'production' }

export function startExpressChat(): Promise<Server> {
  return startPeer('express-chat.ts', join(temporaryFolder(), 'express.db'))
}

export function startNodeWriter(): Promise<Server> {
  return startPeer('node-writer.ts')
}

export function startNodeJson(): Promise<Server> {
  return startPeer('node-json.ts')
}

/** What posts a body to a URL, so many times as it is asked to. */
export function startNodePoster(url: string, parallel: number): Promise<Server> {
  return startPeer('node-poster.ts', url, String(parallel))
}

/** An express with an empty handler, the chat alone, or the chat in that express. */
export function startMounted(what: 'empty' | 'alone' | 'mounted'): Promise<Server> {
  return startPeer('mounted.ts', what)
}

/** What answers for the assistant. */
export function startModel(): Promise<Server> {
  return startPeer('model.ts')
}

function startPeer(file: string, ...args: string[]): Promise<Server> {
  return startServer(['--import', 'tsx', `test/bench/peers/${file}`, ...args], ENVIRONMENT)
}

/** Opens a WebSocket, then the namespace of socket.io inside it. */
export function expressTarget({ pid, port }: Server): ChatTarget {
  const upgrade = upgradeRequest('/socket.io/?EIO=4&transport=websocket&conversation=1', EXPRESS_SESSION)
  return {
    pid,
    port,
    steps: [
      { send: upgrade, until: '"pingInterval"' },
      { send: maskedText('40'), until: '40{"sid"' },
    ],
    post: postTemplate('/conversations/1/messages', EXPRESS_SESSION),
  }
}

export function nodeWriterTarget({ pid, port }: Server): ChatTarget {
  return {
    pid,
    port,
    steps: [{ send: httpRequest('GET', '/stream'), until: ': connected' }],
    post: postTemplate('/messages', {}),
  }
}
