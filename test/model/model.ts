/** How often the model may be asked for an answer: calls of the last time fail it. */
export const MAX_STEPS = 3

/** How often a call starts, and the model is asked for one step. */
const MAX_ATTEMPTS = 3

/** The tools of the assistant, and what their calls need. */
export const TOOLS = {
  look: { idempotent: true },
  charge: {},
  pay: { approval: { by: 'asker' } },
  refund: { approval: { by: 'members', quorum: 2, not_asker: true } },
  ban: { approval: { by: 'admins' } },
} as const satisfies Record<string, ToolRule>

export type ToolName = keyof typeof TOOLS

interface ToolRule {
  idempotent?: boolean
  approval?: { by: 'asker' | 'members' | 'admins'; quorum?: number; not_asker?: boolean }
}

type ApprovalState = 'waiting' | 'approved' | 'denied' | 'expired' | 'cancelled'

/** The life of a call. Written down once more, so that a mistake in the service is none of the model. */
export const LIFE = {
  requested: { ask: 'waiting', start: 'running', refuse: 'failed', stop: 'cancelled' },
  waiting: { approve: 'approved', deny: 'denied', expire: 'expired', stop: 'cancelled' },
  approved: { start: 'running', stop: 'cancelled' },
  running: { restart: 'running', finish: 'done', fail: 'failed', lose: 'unknown', stop: 'unknown' },
  done: {},
  failed: {},
  denied: {},
  expired: {},
  unknown: {},
  cancelled: {},
} as const

type CallState = keyof typeof LIFE

type Act = 'ask' | 'start' | 'restart' | 'finish' | 'fail' | 'lose' | 'approve' | 'deny' | 'expire' | 'refuse' | 'stop'

/** A call of a tool. */
export interface ModelCall {
  tool: ToolName
  state: CallState
  attempts: number
  approval: ApprovalState | null
  /** By user; those of erased users, whose ids are gone, count no more. */
  votes: { user_id: string | null; approve: boolean }[]
}

/** An answer, and how far it is. */
export interface ModelAnswer {
  asker: string
  status: 'streaming' | 'waiting' | 'complete' | 'failed' | 'cancelled' | 'interrupted'
  isDeleted: boolean
  content: string
  /** What the model has written that is kept back until the application has seen it. */
  held: string
  step: number
  phase: 'model' | 'calls'
  /** Whether the step has text. */
  hasText: boolean
  /** How often the model was asked for this step. */
  attempts: number
  /** How often it was asked in all. */
  asks: number
  calls: ModelCall[]
}

/** A conversation with an assistant, as simple as it can be: one thing happens at a time, and at once. */
export interface Model {
  /** Whether nothing of an answer is shown before the application has seen it. */
  hold: boolean
  people: { id: string; role: 'owner' | 'admin' | 'member' }[]
  answers: Map<string, ModelAnswer>
}

/** What a user gets to know: `ok`, or the code of the refusal. */
export type Result = 'ok' | 'not_found' | 'forbidden' | 'conflict' | 'message_deleted'

export const isLive = ({ status }: ModelAnswer) => status === 'streaming' || status === 'waiting'

export function ask(model: Model, id: string, asker: string): void {
  model.answers.set(id, {
    ...{ asker, status: 'streaming', isDeleted: false, content: '', held: '', step: 1, phase: 'model', hasText: false },
    ...{ attempts: 1, asks: 1, calls: [] },
  })
}

/** The answer, if its model is writing. */
function writing(model: Model, id: string): ModelAnswer | undefined {
  const answer = model.answers.get(id)!
  return answer.status === 'streaming' && answer.phase === 'model' ? answer : undefined
}

export function say(model: Model, id: string, text: string): void {
  const answer = writing(model, id)
  if (!answer) return
  const isLater = answer.step > 1 && !answer.hasText && answer.content !== ''
  answer.held += (isLater ? '\n\n' : '') + text
  answer.hasText = true
  if (!model.hold) show(answer)
}

/** Readers get what was kept back. */
function show(answer: ModelAnswer): void {
  answer.content += answer.held
  answer.held = ''
}

export function callTools(model: Model, id: string, tools: readonly ToolName[]): void {
  const answer = writing(model, id)
  if (!answer) return
  show(answer)
  for (const tool of tools) answer.calls.push({ tool, state: 'requested', attempts: 0, approval: null, votes: [] })
  Object.assign(answer, { phase: 'calls', attempts: 0 })
}

/** @param end `withdrawn` by the application */
export function endAnswer(model: Model, id: string, end: 'complete' | 'failed' | 'withdrawn'): void {
  const answer = writing(model, id)
  if (!answer) return
  if (end === 'complete') show(answer)
  answer.status = end === 'complete' ? end : 'failed'
  answer.isDeleted = end === 'withdrawn'
}

/** @returns whether this could happen to the call */
function move(call: ModelCall, act: Act): boolean {
  const state = (LIFE[call.state] as Partial<Record<Act, CallState>>)[act]
  if (state) call.state = state
  return state !== undefined
}

export function returnFromTool(model: Model, id: string, n: number, act: 'finish' | 'fail'): void {
  move(model.answers.get(id)!.calls[n]!, act)
}

export function vote(model: Model, id: string, n: number, { user_id, approve }: Vote): Result {
  const answer = model.answers.get(id)!
  const call = answer.calls[n]!
  const rule: ToolRule = TOOLS[call.tool]
  const person = model.people.find((each) => each.id === user_id)
  if (!person || answer.isDeleted || call.approval === null) return 'not_found'
  const own = call.votes.find((each) => each.user_id === user_id)
  if (own?.approve === approve) return 'ok'
  const isManager = person.role !== 'member'
  const mayApprove = (id: string | null, isDenial = false) => {
    const voter = model.people.find((each) => each.id === id)
    if (!voter) return false
    if (isDenial && voter.role !== 'member') return true
    if (rule.approval!.not_asker && id === answer.asker) return false
    if (rule.approval!.by === 'asker') return id === answer.asker
    return rule.approval!.by === 'members' || voter.role !== 'member'
  }
  if (!(mayApprove(user_id) || (!approve && isManager))) return 'forbidden'
  if (call.approval !== 'waiting') return 'conflict'
  call.votes = [...call.votes.filter((each) => each !== own), { user_id, approve }]
  const approvals = call.votes.filter((each) => each.approve && mayApprove(each.user_id)).length
  if (!approve) decide(call, 'deny', 'denied')
  else if (approvals >= (rule.approval!.quorum ?? 1)) decide(call, 'approve', 'approved')
  return 'ok'
}

export interface Vote {
  user_id: string
  approve: boolean
}

function decide(call: ModelCall, act: Act, approval: ApprovalState): void {
  if (move(call, act)) call.approval = approval
}

export function expire(model: Model, id: string, n: number): void {
  decide(model.answers.get(id)!.calls[n]!, 'expire', 'expired')
}

/** Ends an answer under way: what runs may have happened, the rest never does. */
function stop(answer: ModelAnswer): void {
  if (!isLive(answer)) return
  answer.status = 'cancelled'
  for (const call of answer.calls) {
    if (call.approval === 'waiting') call.approval = 'cancelled'
    move(call, 'stop')
  }
}

/** By the user who asked, or an owner or admin. */
export function cancel(model: Model, id: string, user_id: string): Result {
  const answer = model.answers.get(id)!
  const role = model.people.find((each) => each.id === user_id)!.role
  if (answer.asker !== user_id && role === 'member') return 'forbidden'
  stop(answer)
  return 'ok'
}

export function remove(model: Model, id: string, user_id: string): Result {
  const answer = model.answers.get(id)!
  const role = model.people.find((each) => each.id === user_id)!.role
  if (answer.asker !== user_id && role === 'member') return 'forbidden'
  if (answer.isDeleted) return 'message_deleted'
  stop(answer)
  answer.isDeleted = true
  return 'ok'
}

/** @param successor a new member */
export function erase(model: Model, user_id: string, successor: string): void {
  for (const answer of model.answers.values()) {
    if (answer.asker === user_id) stop(answer)
    for (const { votes } of answer.calls) for (const each of votes) if (each.user_id === user_id) each.user_id = null
  }
  model.people = model.people.filter(({ id }) => id !== user_id).concat({ id: successor, role: 'member' })
}

/** The process that writes these answers is gone, and another one takes them. */
export function lose(model: Model, ids: readonly string[]): void {
  for (const id of ids) {
    const answer = model.answers.get(id)!
    if (answer.status !== 'streaming') continue
    if (answer.phase === 'model') {
      answer.attempts++
      const hasRows = answer.hasText && !model.hold
      if (answer.step === 1 || hasRows || answer.attempts > MAX_ATTEMPTS) answer.status = 'interrupted'
      else Object.assign(answer, { asks: answer.asks + 1, held: '', hasText: false })
    }
    for (const call of answer.calls.filter(({ state }) => state === 'running')) {
      const { idempotent }: ToolRule = TOOLS[call.tool]
      if (idempotent && call.attempts < MAX_ATTEMPTS) call.attempts++
      else move(call, 'lose')
    }
  }
}

/** Lets the service do all that it does by itself. */
export function settle(model: Model): void {
  for (const answer of model.answers.values()) if (isLive(answer) && answer.phase === 'calls') goOn(answer)
}

function goOn(answer: ModelAnswer): void {
  // Its calls are stored before they are refused: others may end it in between.
  if (answer.step === MAX_STEPS) {
    for (const call of answer.calls) move(call, 'refuse')
    answer.status = 'failed'
    return
  }
  for (const call of answer.calls) {
    const rule: ToolRule = TOOLS[call.tool]
    if (call.state === 'requested' && rule.approval) decide(call, 'ask', 'waiting')
    else if (call.state === 'requested' || call.state === 'approved') {
      move(call, 'start')
      call.attempts++
    }
  }
  const open = answer.calls.filter(({ state }) => Object.keys(LIFE[state]).length > 0)
  answer.status = open.length > 0 && open.every(({ state }) => state === 'waiting') ? 'waiting' : 'streaming'
  if (open.length > 0) return
  Object.assign(answer, { phase: 'model', step: answer.step + 1, hasText: false, attempts: 1, asks: answer.asks + 1 })
}

/** What can be seen of the model in a database. */
export function project(model: Model): Projection {
  const answers = [...model.answers].map(([id, answer]) => ({
    id,
    status: answer.status,
    isDeleted: answer.isDeleted,
    content: answer.content,
    // What is written now is asked for by a process; of an ended answer it is not known whether the last request came.
    ...(answer.status === 'streaming' && answer.phase === 'model' && { asks: answer.asks }),
    calls: answer.calls.map(({ tool, state, attempts, approval, votes }) => ({
      ...{ tool, state, attempts, approval },
      votes: votes.map(({ user_id, approve }) => `${user_id} ${approve ? 'approves' : 'denies'}`).sort(),
      ...(state === 'running' && { starts: attempts }),
    })),
  }))
  return answers.sort((one, other) => (one.id < other.id ? -1 : 1))
}

export type Projection = {
  id: string
  status: string
  isDeleted: boolean
  content: string
  asks?: number
  calls: {
    tool: string
    state: string
    attempts: number
    approval: string | null
    votes: string[]
    starts?: number
  }[]
}[]
