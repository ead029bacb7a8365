import { useApp } from '../app/context.ts'
import { Hooks } from './hooks.tsx'
import { manages } from './managing.ts'
import type { TabProps } from './pane.tsx'
import { RoomBots } from './room-bots.tsx'

/** The programs in a room: its bots, and for those who look after it the addresses at which tools post. */
export function Integrations(props: TabProps) {
  const { features } = useApp()
  return (
    <>
      {features.bots && <RoomBots {...props} />}
      {features.hooks && manages(features, props.conversation) && <Hooks {...props} />}
    </>
  )
}
