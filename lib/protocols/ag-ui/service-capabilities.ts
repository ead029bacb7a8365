import type { AssistantInfo } from '../../chat/assistants/schema.ts'
import { list } from '../../chat/assistants/service.ts'
import { useCase } from '../../core/use-case.ts'
import { VERSION } from '../../core/version.ts'
import type { AgUiCapabilities } from './schema-capabilities.ts'

/** What the assistants that the actor may ask can do, as AG-UI declares it. */
export const getCapabilities = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<AgUiCapabilities> => {
    const { assistants } = await list.run(ctx, actor, {})
    const keys = new Set(assistants.map(({ key }) => key))
    const settings = ctx.assistants.offered.filter(({ key }) => keys.has(key))
    const tools = new Map(assistants.flatMap((each) => each.tools.map(({ name, title }) => [name, title])))
    const name = assistants[0]?.title
    return {
      identity: { ...(name !== undefined && { name }), type: 'chat-server', version: VERSION },
      transport: { streaming: true, websocket: false, httpBinary: false, pushNotifications: false, resumable: false },
      tools: {
        supported: tools.size > 0,
        items: [...tools].map(([tool, title]) => ({ name: tool, description: title })),
        parallelCalls: true,
        clientProvided: false,
      },
      state: { snapshots: false, deltas: false, persistentState: false },
      multiAgent: { supported: false },
      reasoning: {
        supported: settings.some(({ reasoning }) => reasoning === 'show'),
        streaming: true,
        encrypted: false,
      },
      humanInTheLoop: { supported: true, approvals: tools.size > 0, interrupts: true, approveWithEdits: false },
      custom: { 'chat-server': { assistants: assistants.map(toListed) } },
    }
  },
})

const toListed = ({ key, title, default: isDefault }: AssistantInfo) => ({
  key,
  title,
  ...(isDefault && { default: isDefault }),
})
