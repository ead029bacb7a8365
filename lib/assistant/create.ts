import type { Config } from '../config/parse.ts'
import { createEcho } from './echo.ts'
import { createOpenAi } from './openai/provider.ts'
import type { Assistant } from './provider.ts'

/** The assistant of the configured provider. */
export function createAssistant({
  provider,
  base_url,
  model,
  api_key,
  headers,
  images,
}: Config['assistant']): Assistant {
  if (provider === 'echo') return createEcho()
  // `parseConfig` refuses `openai` without a model.
  return createOpenAi({ base_url, model: model!, api_key, headers: headers.map(splitHeader), images })
}

function splitHeader(header: string): [name: string, value: string] {
  const colon = header.indexOf(':')
  return [header.slice(0, colon), header.slice(colon + 1).trim()]
}
