import { metadataPaths, resourceMetadataUrl } from '../../lib/accounts/grants/metadata.ts'
import { signToken } from '../../lib/accounts/tokens/rules.ts'
import { basePathOf } from '../../lib/config/base-path.ts'
import type { Config } from '../../lib/config/parse.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { withDeadline } from '../../lib/core/scheduling/deadline.ts'
import { MINUTE } from '../../lib/core/units.ts'
import { META, MODERN } from '../../lib/mcp/protocol.ts'
import type { Probe } from '../../lib/ops/probe.ts'
import type { Chat } from '../../lib/service.ts'
import { type Finding, failure, ok, warning } from './finding.ts'
import { ask, describeFailure, parseJson } from './http.ts'

/** How long the first message of a stream may take. */
const MESSAGE_TIMEOUT_MS = 10_000

/** Checks what a client of MCP finds at the public address before it has a token. */
export async function checkMcp(config: Config, url: string): Promise<Finding[]> {
  const named = resourceMetadataUrl(config)
  if (!config.features.mcp || named === undefined) return []
  const { origin } = new URL(url)
  const documents = [...metadataPaths(config, basePathOf(config))].map(([path, document]) => ({
    address: origin + path,
    document,
  }))
  // The one that the challenge names is behind the path of the service.
  if (!documents.some(({ address }) => address === named))
    documents.push({ address: named, document: documents[0]!.document })
  const wrong = await Promise.all(documents.map(({ address, document }) => judgeDocument(address, document)))
  const problems = wrong.filter((finding) => finding !== undefined)
  const found = ok('mcp.metadata', `Clients of MCP find out at ${named} how to get a token.`)
  return [...(problems.length > 0 ? problems : [found]), ...(await checkChallenge(url, named))]
}

async function judgeDocument(address: string, document: Record<string, unknown>): Promise<Finding | undefined> {
  const { status, body, failure: reason } = await ask(address)
  const remedy =
    'Let the proxy forward that path to the service, or answer it in your application by createWellKnownHandler(chat).'
  if (status !== 200)
    return failure(
      'mcp.metadata_missing',
      `Clients of MCP look at ${address}: ${reason ?? `status ${status}`}.`,
      remedy,
    )
  const found = parseJson(body)
  const name = 'issuer' in document ? 'issuer' : 'resource'
  if (found?.[name] === document[name]) return undefined
  return failure(
    'mcp.metadata_wrong',
    `The document at ${address} has another ${name} than ${String(document[name])}.`,
    'Start the service with this configuration, and let the proxy forward that path to it and to nothing else.',
  )
}

/** Whether the proxy lets a client know where to get a token. */
async function checkChallenge(url: string, named: string): Promise<Finding[]> {
  try {
    const response = await fetch(`${url}/mcp`, post('server/discover'))
    await response.body?.cancel()
    if (response.headers.get('www-authenticate')?.includes(named)) return []
    return [
      warning(
        'mcp.challenge',
        `${url}/mcp responds to a client without a token with status ${response.status}, and does not name ${named}.`,
        'Let the proxy forward /mcp and the header WWW-Authenticate unchanged.',
      ),
    ]
  } catch (error) {
    return [failure('mcp.challenge', `${url}/mcp: ${describeFailure(error)}.`, 'Let the proxy forward /mcp.')]
  }
}

/** Opens a stream of `/mcp` as the user of a probe, and checks that its first message arrives at once. */
export async function checkMcpStream(chat: Chat, url: string, { user_id, conversation_id }: Probe): Promise<Finding> {
  const { accounts, now } = contextOf(chat)
  const issued_at = now()
  const claims = { user_id, scopes: ['read' as const], issued_at, expires_at: issued_at + MINUTE }
  const token = signToken(await accounts.tokenKeys(), claims)
  const abort = new AbortController()
  const listen = async () => {
    const params = { notifications: { resourceSubscriptions: [`chat://conversations/${conversation_id}`] } }
    const response = await fetch(`${url}/mcp`, { ...post('subscriptions/listen', params, token), signal: abort.signal })
    const first = response.status === 200 ? await response.body!.getReader().read() : { done: true }
    return first.done ? response.status : undefined
  }
  try {
    const result = await withDeadline(listen(), MESSAGE_TIMEOUT_MS, 'late')
    if (result === undefined) return ok('mcp.flows', 'Messages of /mcp arrive as they are sent.')
    if (result === 'late')
      return failure(
        'mcp.buffered',
        `A proxy on the way to ${url}/mcp buffers its streams.`,
        'Turn off response buffering for /mcp as for /api/stream (nginx: proxy_buffering off).',
      )
    return failure('mcp.refused', `${url}/mcp returns status ${result}.`, 'Let the proxy forward /mcp unchanged.')
  } catch (error) {
    return failure('mcp.refused', `${url}/mcp: ${describeFailure(error)}.`, 'Let the proxy forward /mcp unchanged.')
  } finally {
    abort.abort()
  }
}

function post(method: string, params: object = {}, token?: string): RequestInit {
  const _meta = { [META.version]: MODERN, [META.capabilities]: {} }
  return {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(MESSAGE_TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  }
}
