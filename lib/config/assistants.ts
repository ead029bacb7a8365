import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { ROLE_NAME } from '../core/actor.ts'
import { isLabel } from '../core/characters.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { parseUrl } from '../core/url.ts'
import { flag, integer, key, MAX_TIMER_SECONDS, oneOf, section, someText, text } from './key.ts'
import { publicUrl } from './server.ts'

/** The key of the assistant that the section `assistant` configures. */
export const DEFAULT_KEY = 'assistant'

/** The form of the key of an assistant, as it is written after `@`. */
export const ASSISTANT_KEY = /^[a-z][a-z0-9_-]{0,31}$/

/** The maximum number of assistants beside the default: a list of them is no page. */
const MAX_ASSISTANTS = 32

/** A header field as it is sent; the value in ASCII, since servers differ in what else they accept. */
const HEADER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+: *[!-~]([ -~]*[!-~])?$/

/** For the whole list and for each item: neither repeats the given value, which may be secret. */
const HEADERS_FORM = 'must be a list of "Name: value", in ASCII'

const TOOLS_FORM = 'must be a list of names of tools'

const ROLES_FORM = 'must be a list of roles, such as member'

export const assistantName = v.pipe(
  text,
  v.maxLength(MAX_LENGTH.name, `must have at most ${MAX_LENGTH.name} characters`),
  v.check(isLabel, 'must be visible, with no control characters and none that turn the text around it'),
)
export const apiKey = v.pipe(text, v.regex(/^[!-~]+$/, 'must have visible ASCII characters only, and one at least'))
export const headerList = v.array(v.pipe(v.string(HEADERS_FORM), v.regex(HEADER, HEADERS_FORM)), HEADERS_FORM)
export const assistantProvider = oneOf('none', 'echo', 'openai')
const roleList = v.array(v.pipe(v.string(ROLES_FORM), v.regex(ROLE_NAME, ROLES_FORM)), ROLES_FORM)
const pictureUrl = v.pipe(
  text,
  v.maxLength(MAX_LENGTH.url, `must have at most ${MAX_LENGTH.url} characters`),
  v.check((address) => /^https?:$/.test(protocolOf(address)), 'must be an http:// or https:// address'),
)
const toolList = v.pipe(
  v.array(v.pipe(v.string(TOOLS_FORM), v.nonEmpty(TOOLS_FORM)), TOOLS_FORM),
  v.check((names) => new Set(names).size === names.length, 'must name each tool once'),
)
const maxSteps = integer(1, 100)
const maxEqualCalls = integer(1, 100)
const runSeconds = integer(1, 86_400)
const stopper = oneOf('moderators', 'members')
const contextOf = oneOf('auto', 'path', 'thread')
const namesOf = oneOf('auto', 'always', 'never')
const reasoningOf = oneOf('show', 'drop')

/** What the default assistant has as the others: they inherit it. */
export const ASSISTANT_KEYS = {
  avatar_url: key(pictureUrl, undefined, 'URL of the picture beside its answers.'),
  who: key(
    roleList,
    [] as string[],
    'Roles in the service whose users may ask; empty: all users who may ask an assistant.',
  ),
  context: key(
    contextOf,
    'auto',
    'What an assistant gets of a thread: path, the messages above the answer; thread, all of it by arrival, and for a question that begins one the 20 messages before; auto is thread in a conversation with the layout stream, else path.',
  ),
  names: key(
    namesOf,
    'auto',
    'Whether the messages of users begin with their names: auto where several users write, always, or never.',
  ),
  text_files: key(
    flag,
    false,
    'Whether a model of openai gets the texts of files: the newest 8 in UTF-8, each of up to 64 KiB.',
  ),
  reasoning: key(
    reasoningOf,
    'show',
    'What the model writes before its answers: show to readers, or drop, so that it is neither stored nor sent.',
  ),
  stop: key(
    stopper,
    'moderators',
    'Who may stop an answer beside the user who asked: moderators of the conversation, or all members who may ask.',
  ),
  titles: key(
    flag,
    false,
    'Whether the first answer of a conversation with the layout assistant that has no title gives it one, which counts as used by the user who asked.',
  ),
  hold: key(
    flag,
    false,
    'Whether readers get an answer only as a whole: nothing of it is stored or sent before the application has seen it (hooks.afterAnswer).',
  ),
  tools: key(toolList, [] as string[], 'Names of the tools that an assistant may use.'),
  max_steps: key(
    maxSteps,
    8,
    'How often the model is asked for one answer: again after each round of calls; the last time without tools.',
  ),
  max_equal_calls: key(maxEqualCalls, 3, 'How often an answer may call a tool with equal input.'),
  run_seconds: key(
    runSeconds,
    900,
    'An answer that takes longer fails, all its steps and calls together; the time that it waits for approvals does not count.',
    { unit: 'seconds' },
  ),
}

const inherited = (name: string) => `As assistant.${name}, which is the default.`

const NamedSection = section({
  title: key(assistantName, undefined, 'Name in pages. Default: the key, with a capital letter.'),
  provider: key(assistantProvider, undefined, inherited('provider')),
  base_url: key(publicUrl, undefined, inherited('base_url')),
  api_key: key(apiKey, undefined, inherited('api_key'), { secret: true }),
  model: key(someText, undefined, inherited('model')),
  system_prompt: key(someText, undefined, inherited('system_prompt')),
  images: key(flag, undefined, inherited('images')),
  headers: key(headerList, undefined, inherited('headers'), { secret: 'header' }),
  timeout_seconds: key(integer(1, MAX_TIMER_SECONDS), undefined, inherited('timeout_seconds'), { unit: 'seconds' }),
  context_bytes: key(integer(1, MAX_LENGTH.answer), undefined, inherited('context_bytes'), { unit: 'bytes' }),
  answer_bytes: key(integer(1, MAX_LENGTH.answer), undefined, inherited('answer_bytes'), { unit: 'bytes' }),
  avatar_url: key(pictureUrl, undefined, inherited('avatar_url')),
  who: key(roleList, undefined, inherited('who')),
  stop: key(stopper, undefined, inherited('stop')),
  context: key(contextOf, undefined, inherited('context')),
  names: key(namesOf, undefined, inherited('names')),
  text_files: key(flag, undefined, inherited('text_files')),
  reasoning: key(reasoningOf, undefined, inherited('reasoning')),
  titles: key(flag, undefined, inherited('titles')),
  hold: key(flag, undefined, inherited('hold')),
  tools: key(toolList, undefined, inherited('tools')),
  max_steps: key(maxSteps, undefined, inherited('max_steps')),
  max_equal_calls: key(maxEqualCalls, undefined, inherited('max_equal_calls')),
  run_seconds: key(runSeconds, undefined, inherited('run_seconds'), { unit: 'seconds' }),
})

/** The configuration of one assistant beside the default. */
export type NamedAssistant = v.InferOutput<typeof NamedSection>

/** The assistants beside the default: a section with any key for each. */
export const AssistantsSection = v.optional(
  v.objectWithRest({}, NamedSection as v.GenericSchema<unknown, NamedAssistant>),
  {} as never,
)

/** Whether an assistant beside the default may have this key. */
export function isAssistantKey(name: string): boolean {
  return ASSISTANT_KEY.test(name) && name !== DEFAULT_KEY && name !== 'constructor' && name !== 'prototype'
}

/** An assistant with what it inherits. */
export interface AssistantConfig extends Omit<Config['assistant'], 'name' | 'drain_seconds'> {
  key: string
  title: string
}

/** The default assistant as its section configures it. */
export function defaultAssistant({ assistant: { name, ...rest } }: Pick<Config, 'assistant'>): AssistantConfig {
  return { ...rest, key: DEFAULT_KEY, title: name }
}

/** The assistants beside the default, in the order of their sections. */
export function namedAssistants(config: Pick<Config, 'assistant' | 'assistants'>): AssistantConfig[] {
  return Object.entries(config.assistants).map(([key, named]) => inheriting(config, key, named))
}

/** The keys of the assistants that pages offer, as far as the configuration has them. */
export function offeredKeys(config: Pick<Config, 'assistant' | 'assistants'>): string[] {
  return [...(isDefaultOffered(config) ? [DEFAULT_KEY] : []), ...namedAssistants(config).map(({ key }) => key)]
}

/** Whether the default is one of them: it is the echo, for programs alone, unless a provider is set. */
export function isDefaultOffered({ assistant }: Pick<Config, 'assistant'>): boolean {
  return (assistant.provider ?? 'none') !== 'none'
}

/** An assistant beside the default, with all that it leaves out. */
export function inheriting(
  config: Pick<Config, 'assistant'>,
  key: string,
  { title = key[0]!.toUpperCase() + key.slice(1), ...own }: NamedAssistant,
): AssistantConfig {
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  return { ...defaultAssistant(config), ...set, key, title }
}

/** Missing or contradictory keys of assistants. */
export function assistantProblems(config: Config): { key: string; message: string }[] {
  const named = namedAssistants(config)
  const roles = ['admin', 'member', 'read_only', 'guest', ...Object.keys(config.access.roles)]
  const problems = [defaultAssistant(config), ...named].flatMap(({ key, provider, model, who }) => {
    const path = key === DEFAULT_KEY ? key : `assistants.${key}`
    const name = key === DEFAULT_KEY ? 'assistant.provider' : 'its provider'
    const unknown = who.find((role) => !roles.includes(role))
    return [
      ...(provider === 'openai' && model === undefined
        ? [{ key: `${path}.model`, message: `must be set when ${name} is openai` }]
        : []),
      ...(unknown === undefined
        ? []
        : [{ key: `${path}.who`, message: `must have roles of the service: ${roles.join(', ')}` }]),
    ]
  })
  const without = named.filter(({ provider }) => provider === 'none')
  for (const { key } of without)
    problems.push({ key: `assistants.${key}.provider`, message: 'must be set, and not none: leave the section out' })
  if (named.length > MAX_ASSISTANTS)
    problems.push({ key: 'assistants', message: `must have at most ${MAX_ASSISTANTS} sections` })
  return problems
}

function protocolOf(address: string): string {
  return parseUrl(address)?.protocol ?? ''
}

/** What is wrong with the settings of an assistant that a host names in code, first. */
export function problemOfNamed(settings: Record<string, unknown>): { key: string; message: string } | undefined {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(NamedSection.wrapped.entries, name))
  if (unknown !== undefined) return { key: unknown, message: 'is no setting of an assistant' }
  const { issues } = v.safeParse(NamedSection, settings)
  return issues && { key: v.getDotPath(issues[0])?.replace(/\.\d+$/, '') ?? '', message: issues[0].message }
}
