import { expire as expireCall } from '../../lib/chat/approvals/expiring.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { OPERATOR } from '../../lib/index.ts'
import { innerState } from '../support/service.ts'
import * as model from './model.ts'
import { callIdOf, type World } from './world.ts'

/** One thing that happens, in the model and in the service. */
export interface Operation {
  /** For the trace of a run that has failed. */
  text: string
  apply(state: model.Model): model.Result | undefined
  perform(): Promise<model.Result | undefined>
}

/** Picks from a list, and numbers up to one. */
export interface Choice {
  of<T>(list: readonly T[]): T
  number(): number
}

interface Kind {
  /** How often it is chosen, against the others. */
  weight: number
  /** Whether it may happen at the same time as another one. */
  canRace?: true
  /** @returns `undefined` if it cannot happen now */
  choose(world: World, choice: Choice): Operation | undefined
}

/** More would be slower, and show no more. */
const MAX_LIVE = 6

export const KINDS: Record<string, Kind> = {
  ask: { weight: 4, choose: chooseAsk },
  say: { weight: 3, canRace: true, choose: chooseText },
  call: { weight: 5, canRace: true, choose: chooseCalls },
  end: { weight: 2, canRace: true, choose: chooseEnd },
  return: { weight: 7, canRace: true, choose: chooseReturn },
  vote: { weight: 10, canRace: true, choose: chooseVote },
  expire: { weight: 1, canRace: true, choose: chooseExpiry },
  cancel: { weight: 1, canRace: true, choose: chooseCancel },
  remove: { weight: 1, canRace: true, choose: chooseRemoval },
  erase: { weight: 0.3, choose: chooseErasure },
  die: { weight: 2, choose: chooseDeath },
  restart: { weight: 0.3, choose: chooseRestart },
  late: { weight: 1, choose: chooseLate },
}

const entries = (world: World, matches: (answer: model.ModelAnswer) => boolean) =>
  [...world.model.answers].filter(([, answer]) => matches(answer))

const isWriting = ({ status, phase }: model.ModelAnswer) => status === 'streaming' && phase === 'model'

const nameOf = (id: string) => id.slice(-4)

function chooseAsk(world: World, choice: Choice): Operation | undefined {
  if (entries(world, model.isLive).length >= MAX_LIVE) return undefined
  const asker = choice.of(world.model.people).id
  const node = choice.of(world.nodes)
  let message_id = ''
  return {
    text: `${nameOf(asker)} asks`,
    apply: (state) => void model.ask(state, message_id, asker),
    async perform() {
      const actor = await node.users.actor(asker)
      const question = { content: 'Why?', role: 'assistant' } as const
      message_id = (await node.messages.postRoot(actor, world.conversation_id, question)).message_id
    },
  }
}

let texts = 0

function chooseText(world: World, choice: Choice): Operation | undefined {
  const writing = entries(world, isWriting)
  if (writing.length === 0) return undefined
  const [id] = choice.of(writing)
  const text = `text ${++texts}. `
  return {
    text: `${nameOf(id)} writes "${text}"`,
    apply: (state) => void model.say(state, id, text),
    perform: async () => void world.puppet(id)!.say(text),
  }
}

function chooseCalls(world: World, choice: Choice): Operation | undefined {
  const writing = entries(world, isWriting)
  if (writing.length === 0) return undefined
  const [id] = choice.of(writing)
  const tools = Array.from({ length: 1 + Math.floor(choice.number() * 3) }, () =>
    choice.of(Object.keys(model.TOOLS) as model.ToolName[]),
  )
  return {
    text: `${nameOf(id)} calls ${tools.join(', ')}`,
    apply: (state) => void model.callTools(state, id, tools),
    async perform() {
      const puppet = world.puppet(id)!
      // Equal calls would be limited.
      for (const name of tools) puppet.say({ tool_call: { name, input: { n: ++texts } } })
      puppet.end()
      return undefined
    },
  }
}

function chooseEnd(world: World, choice: Choice): Operation | undefined {
  const writing = entries(world, (answer) => isWriting(answer) && answer.hasText)
  if (writing.length === 0) return undefined
  const [id] = choice.of(writing)
  const luck = choice.number()
  const status = luck < 0.7 ? 'complete' : luck < 0.85 ? 'failed' : 'withdrawn'
  return {
    text: `the model of ${nameOf(id)} ends: ${status}`,
    apply: (state) => void model.endAnswer(state, id, status),
    async perform() {
      if (status === 'withdrawn') world.withdrawn.add(id)
      if (status === 'failed') world.puppet(id)!.fail()
      else world.puppet(id)!.end()
      return undefined
    },
  }
}

/** A call of a live answer in one of these states. */
function chooseCall(
  world: World,
  choice: Choice,
  matches: (call: model.ModelCall, answer: model.ModelAnswer) => boolean,
): { id: string; n: number; call: model.ModelCall } | undefined {
  const calls = entries(world, () => true).flatMap(([id, answer]) =>
    answer.calls.flatMap((call, n) => (matches(call, answer) ? { id, n, call } : [])),
  )
  return calls.length > 0 ? choice.of(calls) : undefined
}

function chooseReturn(world: World, choice: Choice): Operation | undefined {
  const chosen = chooseCall(world, choice, ({ state }) => state === 'running')
  if (!chosen) return undefined
  const { id, n } = chosen
  const act = choice.number() < 0.8 ? 'finish' : 'fail'
  return {
    text: `call ${n} of ${nameOf(id)} ends: ${act}`,
    apply: (state) => void model.returnFromTool(state, id, n, act),
    async perform() {
      const call_id = await callIdOf(world, id, n)
      world
        .started()
        .findLast((each) => each.call_id === call_id)!
        .end(act)
      return undefined
    },
  }
}

function chooseVote(world: World, choice: Choice): Operation | undefined {
  const isEarly = choice.number() < 0.85
  const chosen = chooseCall(world, choice, ({ approval }) => (isEarly ? approval === 'waiting' : approval !== null))
  if (!chosen) return undefined
  const { id, n } = chosen
  const user_id = choice.of(world.model.people).id
  const node = choice.of(world.nodes)
  const approve = choice.number() < 0.75
  return {
    text: `${nameOf(user_id)} ${approve ? 'approves' : 'denies'} call ${n} of ${nameOf(id)}`,
    apply: (state) => model.vote(state, id, n, { user_id, approve }),
    perform: () =>
      resultOf(async () => {
        const actor = await node.users.actor(user_id)
        await node.approvals.decide(actor, await callIdOf(world, id, n), { approve })
      }),
  }
}

function chooseExpiry(world: World, choice: Choice): Operation | undefined {
  const chosen = chooseCall(world, choice, ({ approval }) => approval === 'waiting')
  if (!chosen) return undefined
  const { id, n } = chosen
  const node = choice.of(world.nodes)
  return {
    text: `call ${n} of ${nameOf(id)} expires`,
    apply: (state) => void model.expire(state, id, n),
    async perform() {
      // What its task does when it is due.
      const key = await callIdOf(world, id, n)
      await expireCall(innerState(node), { key } as Parameters<typeof expireCall>[1])
      return undefined
    },
  }
}

function chooseCancel(world: World, choice: Choice): Operation | undefined {
  const live = entries(world, model.isLive)
  if (live.length === 0) return undefined
  const [id] = choice.of(live)
  const user_id = choice.of(world.model.people).id
  const node = choice.of(world.nodes)
  return {
    text: `${nameOf(user_id)} cancels ${nameOf(id)}`,
    apply: (state) => model.cancel(state, id, user_id),
    perform: () => resultOf(async () => node.answers.cancel(await node.users.actor(user_id), id)),
  }
}

function chooseRemoval(world: World, choice: Choice): Operation | undefined {
  const shown = entries(world, ({ isDeleted }) => !isDeleted)
  if (shown.length === 0) return undefined
  const [id] = choice.of(shown)
  const user_id = choice.of(world.model.people).id
  const node = choice.of(world.nodes)
  return {
    text: `${nameOf(user_id)} deletes ${nameOf(id)}`,
    apply: (state) => model.remove(state, id, user_id),
    perform: () => resultOf(async () => node.messages.remove(await node.users.actor(user_id), id, {})),
  }
}

function chooseErasure(world: World, choice: Choice): Operation | undefined {
  const { id } = choice.of(world.model.people.filter(({ role }) => role === 'member'))
  const node = choice.of(world.nodes)
  let successor = ''
  return {
    text: `${nameOf(id)} is erased`,
    apply: (state) => void model.erase(state, id, successor),
    async perform() {
      await node.users.erase(OPERATOR, id, { messages: 'keep' })
      successor = await world.add('member')
      return undefined
    },
  }
}

function chooseDeath(world: World, choice: Choice): Operation | undefined {
  const node = choice.of(world.nodes)
  let held: string[] = []
  return {
    text: `node ${world.nodes.indexOf(node)} loses its answers`,
    apply: (state) => void model.lose(state, held),
    async perform() {
      held = await world.heldBy(node)
      // Its timer may renew its leases in between.
      for (let left = held; left.length > 0; left = await world.heldBy(node)) {
        await world.age(left)
        await world.tick(node)
      }
      return undefined
    },
  }
}

function chooseRestart(world: World, choice: Choice): Operation | undefined {
  const node = choice.of(world.nodes)
  let held: string[] = []
  return {
    text: `node ${world.nodes.indexOf(node)} restarts`,
    apply: (state) => void model.lose(state, held),
    async perform() {
      held = await world.heldBy(node)
      await world.replace(node)
      return undefined
    },
  }
}

/** What a process does with an answer that it has lost. */
function chooseLate(world: World, choice: Choice): Operation | undefined {
  const lost = world.puppets().filter((puppet) => {
    const answer = world.model.answers.get(puppet.message_id)
    return !answer || !isWriting(answer) || world.puppet(puppet.message_id) !== puppet
  })
  if (lost.length === 0) return undefined
  const puppet = choice.of(lost)
  return {
    text: `a model writes late for ${nameOf(puppet.message_id)}`,
    apply: () => undefined,
    async perform() {
      puppet.say('too late')
      puppet.end()
      return undefined
    },
  }
}

async function resultOf(call: () => Promise<unknown>): Promise<model.Result> {
  try {
    await call()
    return 'ok'
  } catch (error) {
    if (error instanceof ChatError) return error.code as model.Result
    throw error
  }
}
