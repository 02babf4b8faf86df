"""Write the resolved configuration with what it ran on."""

from pathlib import Path

from calibrag import provenance
from calibrag.job import logged

with logged(snakemake.log[0]) as job:
    packages = provenance.requirements(snakemake.input.requirements)
    header = {
        "versions": provenance.versions(packages),
        "revision": provenance.revision(Path(snakemake.input.requirements).parent),
    }
    provenance.write_run_config(snakemake.output[0], snakemake.params.config, header)
