import { useState } from 'react'
import { countryCodes } from '../../server/agents/settings/country-codes.ts'
import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { IconButton } from '../ui/button.tsx'
import { Form, FormActions, Select } from '../ui/field.tsx'
import { X } from '../ui/icons.ts'
import { Card, Section } from '../ui/page.tsx'
import classes from './settings.module.css'

const names = new Intl.DisplayNames(undefined, { type: 'region' })
const nameOf = (code: string): string => names.of(code) ?? code
const sorted = countryCodes.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))

/** The countries whose visitors are not served. */
export function Countries({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const [chosen, setChosen] = useState<string[]>(agent.blockedCountries ?? [])
  const rest = sorted.filter((code) => !chosen.includes(code))
  return (
    <Section
      title="Countries"
      about="Visitors from these countries are not served. This needs a proxy that sends the country."
    >
      <Card>
        <Form
          save={save}
          more={chosen}
          onSubmit={() => save.mutate({ blockedCountries: chosen.length > 0 ? chosen : null })}
        >
          {chosen.length > 0 && (
            <ul className={classes.chips} aria-label="Blocked countries">
              {chosen.map((code) => (
                <li key={code}>
                  {nameOf(code)}
                  <IconButton
                    icon={X}
                    label={`Serve ${nameOf(code)} again`}
                    onClick={() => setChosen(chosen.filter((one) => one !== code))}
                  />
                </li>
              ))}
            </ul>
          )}
          <Select
            label="Block a country"
            options={[['', 'Choose a country'], ...rest.map((code) => [code, nameOf(code)] as const)]}
            value=""
            onChoose={(code) => code && setChosen([...chosen, code])}
          />
          <FormActions save={save} label="Save the countries" />
        </Form>
      </Card>
    </Section>
  )
}
