import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { didYouMean } from '../../lib/core/nearest.ts'
import { limitedEndpoints } from '../../lib/http/request/rate-limit.ts'
import type { LimitAssignmentInput, LimitProfile, LimitResetInput, LimitStatus } from '../../lib/limits/schema.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { named, unlessTaken } from '../args/missing.ts'
import { parseNumber } from '../args/number.ts'
import { resolveUserId } from '../args/user.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const profileArg = { type: 'string', required: true, description: 'Name or id of the profile' } as const

const rateArgs = {
  rps: { type: 'string', required: true, description: 'Requests per second, may be a fraction' },
  burst: { type: 'string', required: true, description: 'Requests at once after a pause' },
  description: { type: 'string', description: 'Purpose of the profile' },
} as const

const listProfiles = defineCommand({
  meta: { name: 'list', description: 'List the profiles' },
  example: 'chat-server limits profiles list',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const profiles = await allProfiles(chat)
      const rows = profiles.map(({ name, params, description, id }) => [
        name,
        String(params.requests_per_second),
        String(params.burst),
        id,
        description ?? '',
      ])
      print(args, { profiles }, table(['NAME', 'RPS', 'BURST', 'ID', 'DESCRIPTION'], rows))
    }),
})

const createProfile = defineCommand({
  meta: { name: 'create', description: 'Create a profile; it has no effect until it is assigned' },
  example: 'chat-server limits profiles create slow --rps 0.5 --burst 5',
  args: {
    name: { type: 'string', required: true, description: 'Unique name; responses of limited routes carry it' },
    ...rateArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const { name, description } = args
      const creating = chat.limits.createProfile(OPERATOR, { name, description, params: paramsOf(args) })
      const profile = await unlessTaken(`a profile "${name}"`, creating)
      print(args, profile, oneLine(`Profile ${formatProfile(profile)} created.`))
    }),
})

const updateProfile = defineCommand({
  meta: { name: 'update', description: 'Change a profile; applies from the next request on' },
  example: 'chat-server limits profiles update slow --rps 5 --burst 50',
  args: { profile: profileArg, ...rateArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const id = await profileId(chat, args.profile)
      const { description } = args
      const profile = await chat.limits.updateProfile(OPERATOR, id, { description, params: paramsOf(args) })
      print(args, profile, oneLine(`Profile ${formatProfile(profile)} changed.`))
    }),
})

const deleteProfile = defineCommand({
  meta: { name: 'delete', description: 'Delete a profile without assignments' },
  example: 'chat-server limits profiles delete slow',
  args: { profile: profileArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const id = await profileId(chat, args.profile)
      await chat.limits.deleteProfile(OPERATOR, id)
      print(args, { deleted: id }, oneLine(`Profile ${args.profile} deleted.`))
    }),
})

const listAssignments = defineCommand({
  meta: { name: 'list', description: 'List the routes with their profiles' },
  example: 'chat-server limits assignments list --json',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const assignments = await chat.limits.listAssignments(OPERATOR)
      const rows = assignments.map((limit) => [limit.method, limit.path_pattern, limit.profile_name, limit.id])
      print(args, { assignments }, table(['METHOD', 'PATH', 'PROFILE', 'ID'], rows))
    }),
})

const createAssignment = defineCommand({
  meta: { name: 'create', description: 'Assign a profile to a route, or to all routes with a prefix' },
  example: "chat-server limits assignments create slow --method POST --path '/api/messages/*'",
  args: {
    profile: profileArg,
    method: { type: 'string', default: '*', description: 'GET, POST, PUT, PATCH, DELETE, or * for all' },
    path: { type: 'string', required: true, description: 'Path as in the OpenAPI description, or a prefix and *' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const profile_id = await profileId(chat, args.profile)
      const method = args.method as LimitAssignmentInput['method']
      const input = { profile_id, method, path: args.path }
      const assignment = await chat.limits.createAssignment(OPERATOR, limitedEndpoints, input)
      print(args, assignment, oneLine(`${args.method} ${args.path} is limited by ${assignment.profile_name}.`))
    }),
})

const deleteAssignment = defineCommand({
  meta: { name: 'delete', description: 'Remove a profile from a route' },
  example: 'chat-server limits assignments delete 0199f0a0-0000-7000-8000-000000000000',
  args: { id: { type: 'string', required: true, description: 'Id from `limits assignments list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await named('assignment', args.id, chat.limits.deleteAssignment(OPERATOR, args.id))
      print(args, { deleted: args.id }, oneLine(`Assignment ${args.id} deleted.`))
    }),
})

async function allProfiles(chat: Chat): Promise<LimitProfile[]> {
  const profiles: LimitProfile[] = []
  for (;;) {
    const page = await chat.limits.listProfiles(OPERATOR, { after: profiles.at(-1)?.name })
    if (page.length === 0) return profiles
    profiles.push(...page)
  }
}

/** The id of the profile with this name or id. @throws Error if there is none */
async function profileId(chat: Chat, profile: string): Promise<string> {
  const profiles = await allProfiles(chat)
  const row = profiles.find(({ name }) => name === profile) ?? profiles.find(({ id }) => id === profile)
  if (row) return row.id
  const hint = didYouMean(
    profile,
    profiles.map(({ name }) => name),
  )
  throw new Error(`There is no profile "${profile}"${hint || '; "chat-server limits profiles list" shows all'}`)
}

function paramsOf({ rps, burst }: { rps: string; burst: string }) {
  return { requests_per_second: parseNumber('rps', rps), burst: parseNumber('burst', burst) }
}

function formatProfile({ name, params }: LimitProfile): string {
  return `${name} (${params.requests_per_second} a second, ${params.burst} at once)`
}

const status = defineCommand({
  meta: {
    name: 'status',
    description: 'Show the callers that are throttled now, and how many sign-ins succeeded and failed',
  },
  example: 'chat-server limits status grace',
  args: { user: { type: 'string', description: 'Only this user: name, email address or id' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveUserId(chat, args.user)
      const status = await chat.limits.status(OPERATOR, { user_id })
      const rows = status.throttled.map(({ limit, method = '', path = '', user_id, username, address, until }) => [
        username ?? user_id ?? address ?? 'callers without an address',
        limit,
        `${method} ${path}`.trim(),
        until,
      ])
      print(
        args,
        status,
        [...(rows.length > 0 ? [table(['CALLER', 'LIMIT', 'ROUTE', 'UNTIL'], rows)] : []), ...summary(status)].join(
          '\n',
        ),
      )
    }),
})

const reset = defineCommand({
  meta: { name: 'reset', description: 'Forget the calls of a throttled user or address, which may call again at once' },
  example: 'chat-server limits reset grace',
  args: {
    user: { type: 'string', description: 'Name, email address or id of the user' },
    address: { type: 'string', description: 'Address of callers who are not signed in, as `limits status` shows it' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const { user, address } = args
      const caller = { ...(user !== undefined && { user_id: await resolveUserId(chat, user) }), address }
      // The call refuses both, and neither.
      const result = await chat.limits.reset(OPERATOR, caller as LimitResetInput)
      print(args, result, oneLine(`${user ?? address} may call again (${result.reset} counts forgotten).`))
    }),
})

function summary({ throttled, is_complete, locked_accounts, sign_ins }: LimitStatus): string[] {
  const { succeeded, failed, throttled: refused, since } = sign_ins
  return [
    ...(throttled.length === 0 ? ['No caller is throttled by a limit that all processes share.'] : []),
    ...(is_complete ? [] : ['More are throttled than shown.']),
    `Sign-ins since ${since}: ${succeeded} succeeded, ${failed} failed, ${refused} paused an account.`,
    `${locked_accounts} accounts are locked after failed sign-ins: "chat-server user unlock" unlocks one.`,
  ]
}

export default defineGroup({
  meta: { name: 'limits', description: 'Limit how often routes may be called' },
  subCommands: {
    status,
    reset,
    profiles: defineGroup({
      meta: { name: 'profiles', description: 'Rates that can be assigned to routes' },
      subCommands: { list: listProfiles, create: createProfile, update: updateProfile, delete: deleteProfile },
    }),
    assignments: defineGroup({
      meta: { name: 'assignments', description: 'Assignments of profiles to routes' },
      subCommands: { list: listAssignments, create: createAssignment, delete: deleteAssignment },
    }),
  },
})
