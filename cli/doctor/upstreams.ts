import { createProvider } from '../../lib/accounts/oauth/provider.ts'
import { type AssistantConfig, DEFAULT_KEY, defaultAssistant, namedAssistants } from '../../lib/config/assistants.ts'
import { oauthProviders, type ProviderSettings } from '../../lib/config/oauth.ts'
import type { Config } from '../../lib/config/parse.ts'
import { lowerNamed } from '../../lib/core/headers.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { createOutgoing } from '../../lib/outgoing/outgoing.ts'
import { type Finding, failure, ok, skipped, warning } from './finding.ts'
import { ask, parseJson } from './http.ts'
import { checkTools } from './tools.ts'

/** Checks that the upstream services respond: the sign-in providers, the model servers and the tools. */
export async function checkUpstreams(config: Config): Promise<Finding[]> {
  const providers = oauthProviders(config)
  const found = await Promise.all([
    ...providers.map((provider) => checkProvider(config, provider)),
    checkAssistants(config),
    checkTools(config),
  ])
  if (providers.length === 0) found.unshift([skipped('oauth', 'No sign-in provider is configured.')])
  return found.flat()
}

async function checkProvider(config: Config, settings: ProviderSettings): Promise<Finding[]> {
  const reason = settings.issuer ? await discoveryFailure(config, settings) : await reachFailure(settings)
  if (reason === undefined) return [ok('oauth.reachable', `The provider ${settings.name} responds.`)]
  return [
    failure(
      'oauth.unreachable',
      `Sign-in with ${settings.name} fails: ${reason}.`,
      `Check the URLs of oauth.${settings.name}, and that this machine can connect to them.`,
    ),
  ]
}

/** The first step of a sign-in: reads the discovery document and checks its issuer. */
async function discoveryFailure(config: Config, settings: ProviderSettings): Promise<string | undefined> {
  let reason = 'it failed'
  const warn = (_message: string, fields?: Record<string, unknown>) => {
    reason = String(fields?.reason ?? reason)
  }
  const log = { debug() {}, info() {}, error() {}, warn }
  const outgoing = createOutgoing({ config })
  const provider = createProvider(settings, { log, now: currentMicros, outgoing })
  try {
    await provider.authorizationUrl({ state: 'doctor', verifier: 'doctor', nonce: 'doctor' })
    return undefined
  } catch {
    return `${settings.issuer}: ${reason}`
  } finally {
    outgoing.close()
  }
}

/** For a provider without a discovery document: any response will do, since each URL needs a started sign-in. */
async function reachFailure(settings: ProviderSettings): Promise<string | undefined> {
  for (const key of ['authorization_url', 'token_url', 'userinfo_url'] as const) {
    const answer = await ask(settings[key]!)
    if (answer.failure !== undefined) return `${key}: ${answer.failure}`
    if (answer.status >= 500) return `${key} returns status ${answer.status}`
  }
  return undefined
}

/** The model server of each assistant: several may use one with different models. */
async function checkAssistants(config: Config): Promise<Finding[]> {
  const all = [defaultAssistant(config), ...namedAssistants(config)].filter(({ provider }) => provider === 'openai')
  if (all.length === 0) return [skipped('assistant', 'No model server is configured.')]
  return (await Promise.all(all.map(checkAssistant))).flat()
}

async function checkAssistant(assistant: AssistantConfig): Promise<Finding[]> {
  const section = assistant.key === DEFAULT_KEY ? 'assistant' : `assistants.${assistant.key}`
  const url = `${(assistant.base_url ?? 'https://api.openai.com/v1').replace(/\/+$/, '')}/models`
  const headers = {
    ...(assistant.api_key && { authorization: `Bearer ${assistant.api_key}` }),
    ...lowerNamed(assistant.headers),
  }
  const answer = await ask(url, headers)
  if (answer.failure !== undefined)
    return [
      failure(
        'assistant.unreachable',
        `The model server does not respond at ${url}: ${answer.failure}.`,
        `Start it, or correct ${section}.base_url.`,
      ),
    ]
  if (answer.status === 401 || answer.status === 403)
    return [
      failure(
        'assistant.refused',
        `The model server at ${url} refuses the key (status ${answer.status}).`,
        `Correct ${section}.api_key or ${section}.headers.`,
      ),
    ]
  if (answer.status >= 500)
    return [failure('assistant.failing', `${url} returns status ${answer.status}.`, 'Check the model server.')]
  return [judgeModels(parseJson(answer.body)?.data, assistant.model!, section)]
}

/** Some servers list no models, and some accept more names than they list. */
function judgeModels(list: unknown, model: string, section: string): Finding {
  const ids = Array.isArray(list) ? list.map((model) => String(Object(model).id)) : []
  if (ids.length === 0 || ids.some((id) => id === model || id === `${model}:latest`))
    return ok('assistant.reachable', `The model server responds and has ${model}.`)
  return warning(
    'assistant.unknown_model',
    `The model server does not list ${model}, but ${ids.slice(0, 5).join(', ')}.`,
    `Correct ${section}.model, or load that model on the server.`,
  )
}
