import { expect, it, onTestFinished } from 'vitest'
import { startOpenId } from '../../accounts/oauth/openid.ts'
import { answersModels } from '../models.ts'
import { runDoctor, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

it('reports how a provider with discovery, one without, and a model server respond', LONG, async () => {
  const provider = await startOpenId('provider_a')
  onTestFinished(() => provider.close())
  const models = await answersModels(['llama', 'other'], 'hunter2')
  const plain = {
    ...provider.config,
    issuer: undefined,
    authorization_url: `${provider.issuer}/auth`,
    token_url: `${provider.issuer}/token`,
    userinfo_url: `${provider.issuer}/me`,
  }
  const assistant = { provider: 'openai', base_url: `${models}/v1`, model: 'llama', api_key: 'hunter2' }
  const server = { public_url: 'http://127.0.0.1:9' }
  const config = { server, oauth: { provider_a: provider.config, plain }, database: { url: 'sqlite::memory:' } }
  const well = await runDoctor({ ...config, assistant })
  expect(wrong(well.values())).toEqual([])
  expect([well.get('oauth.reachable')?.severity, well.get('assistant.reachable')?.severity]).toEqual(['ok', 'ok'])

  const trouble = async (change: object) => wrong((await runDoctor({ ...config, ...change })).values())
  expect(await trouble({ assistant: { ...assistant, api_key: 'wrong' } })).toEqual(['assistant.refused'])
  expect(await trouble({ assistant: { ...assistant, model: 'gpt' } })).toEqual(['assistant.unknown_model'])
  expect(await trouble({ assistant: { ...assistant, base_url: `${models}/broken` } })).toEqual(['assistant.failing'])
  expect(await trouble({ assistant: { ...assistant, base_url: 'http://127.0.0.1:9/v1' } })).toEqual([
    'assistant.unreachable',
  ])
  const dead = { ...plain, token_url: 'http://127.0.0.1:9/token' }
  const elsewhere = { ...provider.config, issuer: `${models}/issuer` }
  expect(await trouble({ oauth: { dead } })).toEqual(['oauth.unreachable'])
  expect(await trouble({ oauth: { elsewhere } })).toEqual(['oauth.unreachable'])
  const found = await runDoctor({ ...config, oauth: { elsewhere } })
  expect(found.get('oauth.unreachable')?.message).toMatch(/^Sign-in with elsewhere fails: http.*issuer/)
  expect(JSON.stringify([...found.values()])).not.toContain('canary')
})
