import type { Chat } from '../lib/service.ts'

/** What owners have set of a conversation. */
type Room = Pick<
  Awaited<ReturnType<Chat['conversations']['describe']>>,
  'topic' | 'icon' | 'visibility' | 'policy' | 'assistant' | 'frozen_at' | 'auto_join'
>

/** What owners have set of a conversation, a line each: who sees it, and who may do what in it, and its assistant. */
export function roomLines({ topic, icon, visibility, policy, assistant, frozen_at, auto_join }: Room): string[] {
  const rules = Object.entries(policy).map(([key, value]) => `${key} ${value}`)
  return [
    ...(topic ? [`topic: ${topic}`] : []),
    ...(icon ? [`icon: ${icon}`] : []),
    `visibility: ${visibility}`,
    `rules: ${rules.join(', ')}`,
    ...(assistant?.key ? [`assistant: ${assistant.key}`] : []),
    ...(assistant?.prompt ? [`prompt: ${assistant.prompt}`] : []),
    ...(frozen_at ? [`frozen since ${frozen_at}`] : []),
    ...(auto_join ? [`joined automatically by: ${auto_join}`] : []),
  ]
}
