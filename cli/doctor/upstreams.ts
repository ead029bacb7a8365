import { createProvider } from '../../lib/accounts/oauth/provider.ts'
import { oauthProviders, type ProviderSettings } from '../../lib/config/oauth.ts'
import type { Config } from '../../lib/config/parse.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { type Finding, failure, ok, skipped, warning } from './finding.ts'
import { ask, parseJson } from './http.ts'

/** Whether those the service depends on answer: the providers to sign in with, and the model server. */
export async function checkUpstreams(config: Config): Promise<Finding[]> {
  const providers = oauthProviders(config)
  const found = await Promise.all([...providers.map(checkProvider), checkAssistant(config)])
  if (providers.length === 0) found.unshift([skipped('oauth', 'No provider to sign in with is configured.')])
  return found.flat()
}

async function checkProvider(settings: ProviderSettings): Promise<Finding[]> {
  const reason = settings.issuer ? await discoveryFailure(settings) : await reachFailure(settings)
  if (reason === undefined) return [ok('oauth.reachable', `The provider ${settings.name} answers.`)]
  return [
    failure(
      'oauth.unreachable',
      `Nobody can sign in with ${settings.name}: ${reason}.`,
      `Look at the addresses of oauth.${settings.name}, and whether this machine may connect to them.`,
    ),
  ]
}

/** What a sign-in would begin with: the provider's description, and whether it is of the issuer it is asked for. */
async function discoveryFailure(settings: ProviderSettings): Promise<string | undefined> {
  let reason = 'it failed'
  const warn = (_message: string, fields?: Record<string, unknown>) => {
    reason = String(fields?.reason ?? reason)
  }
  const log = { debug() {}, info() {}, error() {}, warn }
  const provider = createProvider(settings, { log, now: currentMicros })
  try {
    await provider.authorizationUrl({ state: 'doctor', verifier: 'doctor', nonce: 'doctor' })
    return undefined
  } catch {
    return `${settings.issuer}: ${reason}`
  }
}

/** Of a provider without a description: any answer, since each is for a sign-in that has begun. */
async function reachFailure(settings: ProviderSettings): Promise<string | undefined> {
  for (const key of ['authorization_url', 'token_url', 'userinfo_url'] as const) {
    const answer = await ask(settings[key]!)
    if (answer.failure !== undefined) return `${key}: ${answer.failure}`
    if (answer.status >= 500) return `${key} answers with status ${answer.status}`
  }
  return undefined
}

async function checkAssistant({ assistant }: Config): Promise<Finding[]> {
  if (assistant.provider !== 'openai') return [skipped('assistant', 'The assistant is an echo, which asks nobody.')]
  const url = `${(assistant.base_url ?? 'https://api.openai.com/v1').replace(/\/+$/, '')}/models`
  const pairs = assistant.headers.map((header) => header.split(/: *(.*)/s, 2) as [string, string])
  const headers = {
    ...(assistant.api_key && { authorization: `Bearer ${assistant.api_key}` }),
    ...Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
  }
  const answer = await ask(url, headers)
  if (answer.failure !== undefined)
    return [
      failure(
        'assistant.unreachable',
        `The model server does not answer at ${url}: ${answer.failure}.`,
        'Start it, or put assistant.base_url right.',
      ),
    ]
  if (answer.status === 401 || answer.status === 403)
    return [
      failure(
        'assistant.refused',
        `The model server refuses this service at ${url} (status ${answer.status}).`,
        'Put assistant.api_key right, or assistant.headers.',
      ),
    ]
  if (answer.status >= 500)
    return [failure('assistant.failing', `${url} answers with status ${answer.status}.`, 'Look at the model server.')]
  return [judgeModels(parseJson(answer.body)?.data, assistant.model!)]
}

/** Some servers list nothing, and some know a model by more names than they list. */
function judgeModels(list: unknown, model: string): Finding {
  const ids = Array.isArray(list) ? list.map((each) => String(Object(each).id)) : []
  if (ids.length === 0 || ids.some((id) => id === model || id === `${model}:latest`))
    return ok('assistant.reachable', `The model server answers, for ${model}.`)
  return warning(
    'assistant.unknown_model',
    `The model server lists no ${model}, but ${ids.slice(0, 5).join(', ')}.`,
    'Put assistant.model right, or have the server load that model.',
  )
}
